-- # a text and a number
SELECT A.k FROM A, B WHERE A.s = B.x WINDOW 1 MINUTE
--> line 1, column 28: cannot compare A.s (string) with B.x (int64) in "A.s = B.x"
-->     SELECT A.k FROM A, B WHERE A.s = B.x WINDOW 1 MINUTE
-->                                ^^^^^^^^^

-- # a condition that is a number
SELECT A.k FROM A, B WHERE A.x WINDOW 1 MINUTE
--> line 1, column 28: a join condition must be true or false, but A.x is int64
-->     SELECT A.k FROM A, B WHERE A.x WINDOW 1 MINUTE
-->                                ^^^

-- # ON that is a text
SELECT A.k FROM A JOIN B ON A.s WINDOW 1 MINUTE
--> line 1, column 29: a join condition must be true or false, but A.s is string
-->     SELECT A.k FROM A JOIN B ON A.s WINDOW 1 MINUTE
-->                                 ^^^

-- # a sum of texts
SELECT A.s + B.s AS both_of_them FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: cannot add A.s (string) and B.s (string) in "A.s + B.s"
-->     SELECT A.s + B.s AS both_of_them FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^

-- # an argument of the wrong type
SELECT SQRT(A.s) AS root FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: SQRT needs a number, but A.s is string in "SQRT(A.s)"
-->     SELECT SQRT(A.s) AS root FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^

-- # an argument too many
SELECT A.k FROM A, B WHERE ABS(A.x, B.x) < 3 WINDOW 1 MINUTE
--> line 1, column 28: ABS takes 1 argument, but "ABS(A.x, B.x)" has 2
-->     SELECT A.k FROM A, B WHERE ABS(A.x, B.x) < 3 WINDOW 1 MINUTE
-->                                ^^^^^^^^^^^^

-- # an argument too few of a function of the user's own
SELECT A.k FROM A, B WHERE A.k = B.k AND correlated(A.y) WINDOW 1 MINUTE
--> line 1, column 42: CORRELATED takes 2 arguments, but "correlated(A.y)" has 1
-->     SELECT A.k FROM A, B WHERE A.k = B.k AND correlated(A.y) WINDOW 1 MINUTE
-->                                              ^^^^^^^^^^^^^^

-- # a text that is no time
SELECT A.k FROM A, B WHERE A.k = B.k AND A.ts > 'yesterday' WINDOW 1 MINUTE
--> line 1, column 42: 'yesterday' stands beside a timestamp[us] but is not a time; write it like '2026-01-31' or '2026-01-31 12:30:00'
-->     SELECT A.k FROM A, B WHERE A.k = B.k AND A.ts > 'yesterday' WINDOW 1 MINUTE
-->                                              ^^^^^^^^^^^^^^^^^^

-- # a constant without a type
SELECT NULL AS nothing FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 16: "NULL" has no type; write CAST(... AS ...)
-->     SELECT NULL AS nothing FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                    ^^^^^^^

-- # two comparisons in a row
SELECT A.k FROM A, B WHERE A.k = B.k AND A.k < B.k = TRUE WINDOW 1 MINUTE
--> line 1, column 42: "A.k < B.k = TRUE" has one comparison inside another, which databases read in different ways; put brackets around the inner one, such as (A.k < B.k), or join the two by AND
-->     SELECT A.k FROM A, B WHERE A.k = B.k AND A.k < B.k = TRUE WINDOW 1 MINUTE
-->                                              ^^^^^^^^^

-- # a comparison with the result of IN
SELECT A.k FROM A, B WHERE A.k = B.k IN (1, 2) WINDOW 1 MINUTE
--> line 1, column 28: "A.k = B.k IN (1, 2)" has one comparison inside another, which databases read in different ways; put brackets around the inner one, such as (B.k IN (1, 2)), or join the two by AND
-->     SELECT A.k FROM A, B WHERE A.k = B.k IN (1, 2) WINDOW 1 MINUTE
-->                                ^^^^^^^^^^^^^^^^^^

-- # BETWEEN in either order
SELECT A.k FROM A, B WHERE A.k = B.k AND A.k BETWEEN SYMMETRIC 3 AND 1 WINDOW 1 MINUTE
--> line 1, column 42: BETWEEN SYMMETRIC is not part of the language; take LEAST and GREATEST of its bounds
-->     SELECT A.k FROM A, B WHERE A.k = B.k AND A.k BETWEEN SYMMETRIC 3 AND 1 WINDOW 1 MINUTE
-->                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- # a cast with a default
SELECT A.k FROM A, B WHERE A.k = CAST(B.s AS BIGINT DEFAULT 0 ON CONVERSION ERROR) WINDOW 1 MINUTE
--> line 1, column 39: "CAST(B.s AS BIGINT DEFAULT 0 ON CONVERSION ERROR)": a CAST has no DEFAULT; write COALESCE(TRY_CAST(...), ...)
-->     SELECT A.k FROM A, B WHERE A.k = CAST(B.s AS BIGINT DEFAULT 0 ON CONVERSION ERROR) WINDOW 1 MINUTE
-->                                           ^^^^^^^^^^^^^^^^^^^^^^^

-- # a period that is none
SELECT A.k FROM A, B WHERE DATE_TRUNC('fortnight', A.ts) = DATE_TRUNC('fortnight', B.ts) WINDOW 1 MINUTE
--> line 1, column 28: DATE_TRUNC needs one of 'microsecond', 'millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year' first, not 'fortnight' in "DATE_TRUNC('fortnight', A.ts)"
-->     SELECT A.k FROM A, B WHERE DATE_TRUNC('fortnight', A.ts) = DATE_TRUNC('fortnight', B.ts) WINDOW 1 MINUTE
-->                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- # a period of a number
SELECT A.k FROM A, B WHERE DATE_TRUNC('day', A.k) = B.ts WINDOW 1 MINUTE
--> line 1, column 28: DATE_TRUNC needs a date or timestamp, but A.k is int64 in "DATE_TRUNC('day', A.k)"
-->     SELECT A.k FROM A, B WHERE DATE_TRUNC('day', A.k) = B.ts WINDOW 1 MINUTE
-->                                ^^^^^^^^^^^^^^^^^^^^^
