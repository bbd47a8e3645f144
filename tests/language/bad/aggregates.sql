-- # an aggregate in a condition
SELECT A.k FROM A, B WHERE A.k = B.k AND COUNT(A.x) > 3 WINDOW 1 MINUTE
--> line 1, column 42: "COUNT(A.x)" is an aggregate; it has no place in an expression over single rows
-->     SELECT A.k FROM A, B WHERE A.k = B.k AND COUNT(A.x) > 3 WINDOW 1 MINUTE
-->                                              ^^^^^^^^^

-- # a column beside an aggregate
SELECT A.k, SUM(B.x) AS total FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: A.k is neither inside an aggregate nor in GROUP BY
-->     SELECT A.k, SUM(B.x) AS total FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^

-- # a column that is no key
SELECT A.k, A.s, SUM(B.x) AS total
FROM A, B
WHERE A.k = B.k
GROUP BY A.k
WINDOW 1 MINUTE
--> line 1, column 13: A.s is neither inside an aggregate nor in GROUP BY
-->     SELECT A.k, A.s, SUM(B.x) AS total
-->                 ^^^

-- # an aggregate of an aggregate
SELECT MAX(COUNT(*)) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 12: "COUNT(*)" is an aggregate; it has no place in an expression over single rows
-->     SELECT MAX(COUNT(*)) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                ^^^^^^^

-- # GROUP BY without an aggregate
SELECT A.k FROM A, B WHERE A.k = B.k GROUP BY A.k WINDOW 1 MINUTE
--> line 1, column 47: GROUP BY without an aggregate such as COUNT(*) in the select list
-->     SELECT A.k FROM A, B WHERE A.k = B.k GROUP BY A.k WINDOW 1 MINUTE
-->                                                   ^^^

-- # GROUP BY a position
SELECT A.k, COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY 1 WINDOW 1 MINUTE
--> line 1, column 57: "1" is a constant; GROUP BY takes columns and expressions
-->     SELECT A.k, COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY 1 WINDOW 1 MINUTE
-->                                                             ^

-- # GROUP BY an aggregate
SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY COUNT(*) WINDOW 1 MINUTE
--> line 1, column 52: "COUNT(*)" is an aggregate; GROUP BY takes columns and expressions
-->     SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY COUNT(*) WINDOW 1 MINUTE
-->                                                        ^^^^^^^

-- # GROUP BY nothing
SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY WINDOW 1 MINUTE
--> line 1, column 43: GROUP BY takes a list of columns or expressions, and nothing else
-->     SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY WINDOW 1 MINUTE
-->                                               ^^^^^^^^

-- # GROUP BY ALL
SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY ALL WINDOW 1 MINUTE
--> line 1, column 43: GROUP BY takes a list of columns or expressions, and nothing else
-->     SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY ALL WINDOW 1 MINUTE
-->                                               ^^^^^^^^

-- # GROUP BY ROLLUP
SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY ROLLUP (A.k) WINDOW 1 MINUTE
--> line 1, column 60: "ROLLUP (A.k)" (ROLLUP) is not part of the language
-->     SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY ROLLUP (A.k) WINDOW 1 MINUTE
-->                                                                ^^^

-- # GROUP BY a misspelt column
SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY A.kk WINDOW 1 MINUTE
--> line 1, column 52: stream 'A' has no column 'kk'; it has: k, x, y, s, ok, d, p, window, odd name, ts. Did you mean 'k'?
-->     SELECT COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY A.kk WINDOW 1 MINUTE
-->                                                        ^^^^

-- # GROUP BY a list of numbers
SELECT COUNT(*) FROM CNN, BBC WHERE CNN.title = BBC.title GROUP BY CNN.words WINDOW 1 MINUTE
--> line 1, column 68: cannot group by CNN.words (list<item: float>)
-->     SELECT COUNT(*) FROM CNN, BBC WHERE CNN.title = BBC.title GROUP BY CNN.words WINDOW 1 MINUTE
-->                                                                        ^^^^^^^^^

-- # GROUP BY after WINDOW
SELECT COUNT(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE GROUP BY A.k
--> line 1, column 59: expected the end of the query, and came GROUP BY
-->     SELECT COUNT(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE GROUP BY A.k
-->                                                               ^^^^^^^^

-- # a star beside an aggregate
SELECT *, COUNT(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: "*" has no place beside aggregates; name columns of GROUP BY
-->     SELECT *, COUNT(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^

-- # all columns of a stream beside an aggregate
SELECT A.*, COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY A.k WINDOW 1 MINUTE
--> line 1, column 8: "A.*" has no place beside aggregates; name columns of GROUP BY
-->     SELECT A.*, COUNT(*) FROM A, B WHERE A.k = B.k GROUP BY A.k WINDOW 1 MINUTE
-->            ^^^

-- # the sum of texts
SELECT SUM(A.s) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: SUM needs a number, and "SUM(A.s)" is of string
-->     SELECT SUM(A.s) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^

-- # the sum of everything
SELECT SUM(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: SUM takes one expression in "SUM(*)"
-->     SELECT SUM(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^

-- # the average of two columns
SELECT AVG(A.x, A.y) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: AVG takes one expression in "AVG(A.x, A.y)"
-->     SELECT AVG(A.x, A.y) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^

-- # a sum of different values
SELECT SUM(DISTINCT A.x) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: DISTINCT is for COUNT, not for SUM in "SUM(DISTINCT A.x)"
-->     SELECT SUM(DISTINCT A.x) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^

-- # different values of two columns
SELECT COUNT(DISTINCT A.x, A.y) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: COUNT takes one expression or * in "COUNT(DISTINCT A.x, A.y)"
-->     SELECT COUNT(DISTINCT A.x, A.y) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^^^^^^^^

-- # the least vector
SELECT MIN(CNN.words) FROM CNN, BBC WHERE CNN.title = BBC.title WINDOW 1 MINUTE
--> line 1, column 8: "MIN(CNN.words)" is of list<item: float>, whose values cannot be compared
-->     SELECT MIN(CNN.words) FROM CNN, BBC WHERE CNN.title = BBC.title WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^

-- # the count of NULL
SELECT COUNT(NULL) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: "COUNT(NULL)" is of NULL, which has no type; write CAST(... AS ...)
-->     SELECT COUNT(NULL) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^

-- # over a window of rows
SELECT A.k, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.k WINDOW A ROWS 100, B 1 MINUTE
--> line 1, column 13: COUNT(*) needs windows of time, and 'A' has one of 100 rows; a row window has no length, so it is not known when a result ceases to count
-->     SELECT A.k, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.k WINDOW A ROWS 100, B 1 MINUTE
-->                 ^^^^^^^

-- # a misspelt aggregate
SELECT SUMM(A.x) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: there is no function 'SUMM' as in "SUMM(A.x)"; there is: ABS, AVG, CEIL, CEILING, CHAR_LENGTH, COALESCE, CONCAT, COSINE_SIMILARITY, COUNT, DATE_TRUNC, DAY, EPOCH_US, EXP, FLOOR, GREATEST, HOUR, IFNULL, INNER_PRODUCT, LEAST, LENGTH, LN, LOWER, MAX, MIN, MINUTE, MOD, MONTH, NULLIF, POW, POWER, ROUND, SECOND, SIGN, SQRT, SUBSTR, SUBSTRING, SUM, TRIM, UPPER, YEAR, correlated. Did you mean 'SUM'?
-->     SELECT SUMM(A.x) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^

-- # a column of the side that is not in the result
SELECT COUNT(B.k) FROM A LEFT ANTI JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> line 1, column 14: the rows of 'B' are not in the result of this join; only those of 'A' are
-->     SELECT COUNT(B.k) FROM A LEFT ANTI JOIN B ON A.k = B.k WINDOW 1 MINUTE
-->                  ^^^

-- # a filter of an aggregate
SELECT COUNT(A.x) FILTER (WHERE A.x > 3) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: "COUNT(A.x) FILTER(WHERE A.x > 3)" (FILTER) is not part of the language
-->     SELECT COUNT(A.x) FILTER (WHERE A.x > 3) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

-- # two results of one name
SELECT COUNT(*), COUNT(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: the select list has 'count(*)' more than once; give each its own name with AS
-->     SELECT COUNT(*), COUNT(*) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^^

-- # HAVING without groups
SELECT A.k FROM A, B WHERE A.k = B.k HAVING A.k > 3 WINDOW 1 MINUTE
--> line 1, column 45: HAVING is about groups; without aggregates put the condition in WHERE
-->     SELECT A.k FROM A, B WHERE A.k = B.k HAVING A.k > 3 WINDOW 1 MINUTE
-->                                                 ^^^^^^^

-- # HAVING that is no condition
SELECT COUNT(*) AS n FROM A, B WHERE A.k = B.k HAVING COUNT(*) WINDOW 1 MINUTE
--> line 1, column 55: HAVING must be true or false, but COUNT(*) is int64
-->     SELECT COUNT(*) AS n FROM A, B WHERE A.k = B.k HAVING COUNT(*) WINDOW 1 MINUTE
-->                                                           ^^^^^^^

-- # HAVING about a column that is no key
SELECT COUNT(*) AS n FROM A, B WHERE A.k = B.k HAVING A.k > 1 WINDOW 1 MINUTE
--> line 1, column 55: A.k is neither inside an aggregate nor in GROUP BY
-->     SELECT COUNT(*) AS n FROM A, B WHERE A.k = B.k HAVING A.k > 1 WINDOW 1 MINUTE
-->                                                           ^^^

-- # DISTINCT beside an aggregate
SELECT DISTINCT COUNT(*) AS n FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 17: SELECT DISTINCT is about single results: leave it out beside aggregates, GROUP BY and HAVING
-->     SELECT DISTINCT COUNT(*) AS n FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                     ^^^^^^^^^^^^^

-- # DISTINCT of a star
SELECT DISTINCT A.* FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 17: "A.*" has no place after DISTINCT; name the columns
-->     SELECT DISTINCT A.* FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                     ^^^

-- # DISTINCT over a row window
SELECT DISTINCT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 10
--> line 1, column 17: SELECT DISTINCT needs windows of time, and 'A' has one of 10 rows; a row window has no length, so it is not known when a result ceases to count
-->     SELECT DISTINCT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 10
-->                     ^^^
