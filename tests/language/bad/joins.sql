-- # one stream
SELECT A.k FROM A WHERE A.k > 3 WINDOW 1 MINUTE
--> line 1, column 17: a join needs two streams or more, and FROM names one
-->     SELECT A.k FROM A WHERE A.k > 3 WINDOW 1 MINUTE
-->                     ^

-- # no FROM
SELECT 1 AS one WINDOW 1 MINUTE
--> line 1, column 8: the query has no FROM; it names the streams, as in FROM T, H
-->     SELECT 1 AS one WINDOW 1 MINUTE
-->            ^^^^^^^^

-- # nothing ties one of three
SELECT A.k FROM A, B, C WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 23: no condition ties 'A', 'B' to 'C'; add one, or write CROSS JOIN or WHERE TRUE to join every combination within the windows
-->     SELECT A.k FROM A, B, C WHERE A.k = B.k WINDOW 1 MINUTE
-->                           ^

-- # no condition at all
SELECT A.k FROM A, B WINDOW 1 MINUTE
--> line 1, column 20: no condition ties 'A' to 'B'; add one, or write CROSS JOIN or WHERE TRUE to join every combination within the windows
-->     SELECT A.k FROM A, B WINDOW 1 MINUTE
-->                        ^

-- # only conditions of one stream
SELECT A.k FROM A JOIN B ON A.ok WINDOW 1 MINUTE
--> line 1, column 24: no condition ties 'A' to 'B'; add one, or write CROSS JOIN or WHERE TRUE to join every combination within the windows
-->     SELECT A.k FROM A JOIN B ON A.ok WINDOW 1 MINUTE
-->                            ^

-- # WHERE after a LEFT JOIN
SELECT A.k, B.x FROM A LEFT JOIN B ON A.k = B.k
WHERE B.x > 3
WINDOW 1 MINUTE
--> line 2, column 7: WHERE after LEFT JOIN would apply to its result, which is not available: put the condition into ON (a row to be kept that fails it there comes out without a partner)
-->     WHERE B.x > 3
-->           ^^^^^^^

-- # WHERE after a LEFT ANTI JOIN
SELECT A.k FROM A LEFT ANTI JOIN B ON A.k = B.k WHERE A.ok WINDOW 1 MINUTE
--> line 1, column 55: WHERE after LEFT ANTI JOIN would apply to its result, which is not available: put the condition into ON (a row to be kept that fails it there comes out without a partner)
-->     SELECT A.k FROM A LEFT ANTI JOIN B ON A.k = B.k WHERE A.ok WINDOW 1 MINUTE
-->                                                           ^^^^

-- # WHERE on the side that a LEFT SEMI JOIN leaves out
SELECT A.k FROM A LEFT SEMI JOIN B ON A.k = B.k WHERE B.ok WINDOW 1 MINUTE
--> line 1, column 55: the rows of 'B' are not in the result of this join; only those of 'A' are
-->     SELECT A.k FROM A LEFT SEMI JOIN B ON A.k = B.k WHERE B.ok WINDOW 1 MINUTE
-->                                                           ^^^^

-- # a column of the side that a LEFT ANTI JOIN leaves out
SELECT A.k, B.x FROM A LEFT ANTI JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> line 1, column 13: the rows of 'B' are not in the result of this join; only those of 'A' are
-->     SELECT A.k, B.x FROM A LEFT ANTI JOIN B ON A.k = B.k WINDOW 1 MINUTE
-->                 ^^^

-- # LEFT JOIN without ON
SELECT A.k FROM A LEFT JOIN B WINDOW 1 MINUTE
--> line 1, column 29: LEFT JOIN needs its condition in ON
-->     SELECT A.k FROM A LEFT JOIN B WINDOW 1 MINUTE
-->                                 ^

-- # FULL JOIN after another without ON
SELECT A.k FROM A LEFT JOIN B ON A.k = B.k FULL JOIN C WINDOW 1 MINUTE
--> line 1, column 54: FULL JOIN needs its condition in ON
-->     SELECT A.k FROM A LEFT JOIN B ON A.k = B.k FULL JOIN C WINDOW 1 MINUTE
-->                                                          ^

-- # a stream that is joined later
SELECT A.k FROM A LEFT JOIN B ON A.k = B.k AND B.k = C.k LEFT JOIN C ON A.k = C.k WINDOW 1 MINUTE
--> line 1, column 54: there is no stream 'C'; the query has: A, B.
-->     SELECT A.k FROM A LEFT JOIN B ON A.k = B.k AND B.k = C.k LEFT JOIN C ON A.k = C.k WINDOW 1 MINUTE
-->                                                          ^^^

-- # the rows of a semi join in a later ON
SELECT A.k FROM A LEFT SEMI JOIN B ON A.k = B.k LEFT JOIN C ON B.k = C.k WINDOW 1 MINUTE
--> line 1, column 64: the rows of 'B' are not in the result of this join; only those of 'A' and 'C' are
-->     SELECT A.k FROM A LEFT SEMI JOIN B ON A.k = B.k LEFT JOIN C ON B.k = C.k WINDOW 1 MINUTE
-->                                                                    ^^^

-- # RIGHT SEMI JOIN
SELECT B.k FROM A RIGHT SEMI JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> line 1, column 35: RIGHT SEMI JOIN is not available; there are JOIN, LEFT, RIGHT and FULL JOIN, LEFT SEMI JOIN, LEFT ANTI JOIN and ASOF JOIN
-->     SELECT B.k FROM A RIGHT SEMI JOIN B ON A.k = B.k WINDOW 1 MINUTE
-->                                       ^

-- # USING
SELECT A.k FROM A JOIN B USING (k) WINDOW 1 MINUTE
--> line 1, column 24: USING is not available; write ON with both columns, as in ON A.k = B.k
-->     SELECT A.k FROM A JOIN B USING (k) WINDOW 1 MINUTE
-->                            ^^^^^^^^^^

-- # NATURAL JOIN
SELECT A.k FROM A NATURAL JOIN B WINDOW 1 MINUTE
--> line 1, column 32: NATURAL JOIN is not available; there are JOIN, LEFT, RIGHT and FULL JOIN, LEFT SEMI JOIN, LEFT ANTI JOIN and ASOF JOIN
-->     SELECT A.k FROM A NATURAL JOIN B WINDOW 1 MINUTE
-->                                    ^

-- # ASOF JOIN
SELECT A.k FROM A ASOF JOIN B ON A.k = B.k AND A.ts >= B.ts WINDOW 1 MINUTE
--> line 1, column 68: an as-of join has no WINDOW: say how far away a row may be, as in T.ts <= Q.ts + INTERVAL '5' SECOND
-->     SELECT A.k FROM A ASOF JOIN B ON A.k = B.k AND A.ts >= B.ts WINDOW 1 MINUTE
-->                                                                        ^^^^^^^^

-- # OUTER JOIN of no side
SELECT A.k FROM A OUTER JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> line 1, column 30: OUTER JOIN is not available; there are JOIN, LEFT, RIGHT and FULL JOIN, LEFT SEMI JOIN, LEFT ANTI JOIN and ASOF JOIN
-->     SELECT A.k FROM A OUTER JOIN B ON A.k = B.k WINDOW 1 MINUTE
-->                                  ^

-- # a JOIN inside a JOIN
SELECT A.k FROM A JOIN B JOIN C ON B.k = C.k ON A.k = B.k WINDOW 1 MINUTE
--> line 1, column 24: each JOIN is followed by its own ON: A JOIN B ON ... JOIN C ON ...
-->     SELECT A.k FROM A JOIN B JOIN C ON B.k = C.k ON A.k = B.k WINDOW 1 MINUTE
-->                            ^^^^^^^^^^^^^^^^^^^^^
