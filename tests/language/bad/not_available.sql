-- # ORDER BY
SELECT A.k FROM A, B WHERE A.k = B.k ORDER BY A.k WINDOW 1 MINUTE
--> line 1, column 38: ORDER BY is not available: results come in order of their time with order='sync'
-->     SELECT A.k FROM A, B WHERE A.k = B.k ORDER BY A.k WINDOW 1 MINUTE
-->                                          ^^^^^^^^

-- # LIMIT
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE LIMIT 10
--> line 1, column 54: LIMIT is not available: a stream has no last row; the first results of tables are query.collect(limit=...)
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE LIMIT 10
-->                                                          ^^^^^

-- # LIMIT before WINDOW
SELECT A.k FROM A, B WHERE A.k = B.k LIMIT 10 WINDOW 1 MINUTE
--> line 1, column 38: LIMIT is not available: a stream has no last row; the first results of tables are query.collect(limit=...)
-->     SELECT A.k FROM A, B WHERE A.k = B.k LIMIT 10 WINDOW 1 MINUTE
-->                                          ^^^^^

-- # UNION
SELECT A.k FROM A, B WHERE A.k = B.k UNION ALL SELECT A.k FROM A, C WHERE A.k = C.k WINDOW 1 MINUTE
--> line 1, column 38: UNION is not available: write one query for each part
-->     SELECT A.k FROM A, B WHERE A.k = B.k UNION ALL SELECT A.k FROM A, C WHERE A.k = C.k WINDOW 1 MINUTE
-->                                          ^^^^^

-- # WITH
WITH hot AS (SELECT * FROM A WHERE A.x > 40) SELECT hot.k FROM hot, B WHERE hot.k = B.k WINDOW 1 MINUTE
--> line 1, column 1: WITH is not available: name each stream in FROM
-->     WITH hot AS (SELECT * FROM A WHERE A.x > 40) SELECT hot.k FROM hot, B WHERE hot.k = B.k WINDOW 1 MINUTE
-->     ^^^^

-- # a subquery in FROM
SELECT hot.k FROM (SELECT * FROM A WHERE A.x > 40) hot, B WHERE hot.k = B.k WINDOW 1 MINUTE
--> line 1, column 27: a subquery in FROM is not available: FROM names streams
-->     SELECT hot.k FROM (SELECT * FROM A WHERE A.x > 40) hot, B WHERE hot.k = B.k WINDOW 1 MINUTE
-->                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- # a subquery in a condition
SELECT A.k FROM A, B WHERE A.k = B.k AND A.x IN (SELECT x FROM C) WINDOW 1 MINUTE
--> line 1, column 42: "A.x IN (SELECT x FROM C)": IN needs a list of values in parentheses
-->     SELECT A.k FROM A, B WHERE A.k = B.k AND A.x IN (SELECT x FROM C) WINDOW 1 MINUTE
-->                                              ^^^^^^^^^^^^^^^^^^^^^^^

-- # a function over a window of SQL's kind
SELECT SUM(A.x) OVER (PARTITION BY A.k) AS s FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: "SUM(A.x) OVER (PARTITION BY A.k)" (WINDOW) is not part of the language
-->     SELECT SUM(A.x) OVER (PARTITION BY A.k) AS s FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- # all columns but one
SELECT * EXCEPT (k) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: "* EXCEPT (k)" is not part of the language; write * or the names of columns
-->     SELECT * EXCEPT (k) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^

-- # a table function
SELECT A.k FROM A, numbers(10) n WHERE A.k = n.k WINDOW 1 MINUTE
--> line 1, column 20: "numbers(10) AS n" is not the name of a stream; FROM takes stream or stream alias
-->     SELECT A.k FROM A, numbers(10) n WHERE A.k = n.k WINDOW 1 MINUTE
-->                        ^^^^^^^^^^^^^

-- # a sample
SELECT A.k FROM A TABLESAMPLE (10 PERCENT), B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 17: "A TABLESAMPLE (10 PERCENT)" is not the name of a stream; FROM takes stream or stream alias
-->     SELECT A.k FROM A TABLESAMPLE (10 PERCENT), B WHERE A.k = B.k WINDOW 1 MINUTE
-->                     ^^^^^^^^^^^^^^^^^
