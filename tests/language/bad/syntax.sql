-- # nothing
-- only a comment
--> the text is empty; write a query such as SELECT T.a, H.b FROM T, H WHERE T.k = H.k WINDOW 10 MINUTES

-- # another statement
DELETE FROM A WHERE A.k = 3
--> line 1, column 1: a query starts with SELECT: SELECT T.a, H.b FROM T, H WHERE T.k = H.k WINDOW 10 MINUTES
-->     DELETE FROM A WHERE A.k = 3
-->     ^^^^^^

-- # two queries
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE; SELECT B.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 53: the text is more than one query
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE; SELECT B.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                                                         ^

-- # a quote that is never closed
SELECT A.k FROM A, B WHERE A.s = 'x AND A.k = B.k WINDOW 1 MINUTE
--> line 1, column 34: this quote is never closed
-->     SELECT A.k FROM A, B WHERE A.s = 'x AND A.k = B.k WINDOW 1 MINUTE
-->                                      ^

-- # an operator without its right side
SELECT A.k
FROM A, B
WHERE A.k =
WINDOW 1 MINUTE
--> line 3, column 11: an operand is missing near =
-->     WHERE A.k =
-->               ^

-- # an operator twice
SELECT A.k FROM A, B WHERE A.k = = B.k WINDOW 1 MINUTE
--> line 1, column 34: an operand is missing near =
-->     SELECT A.k FROM A, B WHERE A.k = = B.k WINDOW 1 MINUTE
-->                                      ^

-- # a parenthesis that is never closed
SELECT A.k FROM A, B WHERE (A.k = B.k AND A.ok WINDOW 1 MINUTE
--> line 1, column 28: this parenthesis is never closed
-->     SELECT A.k FROM A, B WHERE (A.k = B.k AND A.ok WINDOW 1 MINUTE
-->                                ^

-- # a parenthesis that was never opened
SELECT A.k FROM A, B WHERE A.k = B.k) AND A.ok WINDOW 1 MINUTE
--> line 1, column 37: this parenthesis was never opened
-->     SELECT A.k FROM A, B WHERE A.k = B.k) AND A.ok WINDOW 1 MINUTE
-->                                         ^

-- # a comma at the end of the select list
SELECT A.k, FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 11: something is missing after ,
-->     SELECT A.k, FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->               ^

-- # a comma at the end of FROM
SELECT A.k FROM A, B, WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 21: something is missing after ,
-->     SELECT A.k FROM A, B, WHERE A.k = B.k WINDOW 1 MINUTE
-->                         ^

-- # nothing after ON
SELECT A.k FROM A JOIN B ON WINDOW 1 MINUTE
--> line 1, column 26: something is missing after ON
-->     SELECT A.k FROM A JOIN B ON WINDOW 1 MINUTE
-->                              ^^

-- # nothing after WHERE
SELECT A.k FROM A, B WHERE WINDOW 1 MINUTE
--> line 1, column 22: an operand is missing near WHERE
-->     SELECT A.k FROM A, B WHERE WINDOW 1 MINUTE
-->                          ^^^^^

-- # no select list
SELECT FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 13: the select list is empty; write * or some columns
-->     SELECT FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                 ^

-- # a word too many
SELECT A.k key value FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 16: unexpected text near value
-->     SELECT A.k key value FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                    ^^^^^

-- # WHERE twice
SELECT A.k FROM A, B WHERE A.k = B.k WHERE A.ok WINDOW 1 MINUTE
--> line 1, column 38: a clause comes a second time near WHERE
-->     SELECT A.k FROM A, B WHERE A.k = B.k WHERE A.ok WINDOW 1 MINUTE
-->                                          ^^^^^

-- # FROM before SELECT
FROM A, B SELECT A.k WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 1: a query starts with SELECT: SELECT T.a, H.b FROM T, H WHERE T.k = H.k WINDOW 10 MINUTES
-->     FROM A, B SELECT A.k WHERE A.k = B.k WINDOW 1 MINUTE
-->     ^^^^

-- # a sign that is no operator
SELECT A.k FROM A, B WHERE A.k ≠ B.k WINDOW 1 MINUTE
--> line 1, column 32: unexpected text near ≠
-->     SELECT A.k FROM A, B WHERE A.k ≠ B.k WINDOW 1 MINUTE
-->                                    ^
