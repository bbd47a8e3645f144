-- # none
SELECT A.k FROM A, B WHERE A.k = B.k
--> line 1, column 17: stream 'A' has no window; end the query with one, as in WINDOW 10 MINUTES, or, to keep its rows for ever, WINDOW A UNBOUNDED
-->     SELECT A.k FROM A, B WHERE A.k = B.k
-->                     ^

-- # none for one of two
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A 1 MINUTE
--> line 1, column 20: stream 'B' has no window; end the query with one, as in WINDOW 10 MINUTES, or, to keep its rows for ever, WINDOW B UNBOUNDED
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A 1 MINUTE
-->                        ^

-- # nothing after the word
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW
--> line 1, column 44: expected a window such as 10 MINUTES, ROWS 1000, ROWS 100 PER KEY or UNBOUNDED, and nothing came
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW
-->                                                ^

-- # no unit
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 10
--> line 1, column 47: expected a unit of time such as SECONDS, MINUTES or HOURS, and nothing came
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 10
-->                                                   ^

-- # a unit that is not there
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 3 FORTNIGHTS
--> line 1, column 45: window '3 FORTNIGHTS' is not a duration; write a number and a unit, like '10 minutes' or '1.5 seconds'
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 3 FORTNIGHTS
-->                                                 ^^^^^^^^^^^^

-- # a month has no fixed length
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MONTH
--> line 1, column 45: window '1 MONTH' is not a duration; write a number and a unit, like '10 minutes' or '1.5 seconds'
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MONTH
-->                                                 ^^^^^^^

-- # below zero
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW -10 SECONDS
--> line 1, column 45: expected a window such as 10 MINUTES, ROWS 1000, ROWS 100 PER KEY or UNBOUNDED, and came -
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW -10 SECONDS
-->                                                 ^

-- # a name without a window
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A, B 1 MINUTE
--> line 1, column 46: expected a window such as 10 MINUTES, ROWS 1000, ROWS 100 PER KEY or UNBOUNDED, and came ,
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A, B 1 MINUTE
-->                                                  ^

-- # an interval
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW INTERVAL '10' MINUTE
--> line 1, column 54: expected a window such as 10 MINUTES, ROWS 1000, ROWS 100 PER KEY or UNBOUNDED, and came '10'
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW INTERVAL '10' MINUTE
-->                                                          ^^^^

-- # one for all beside one of a stream
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE, B 2 MINUTES
--> line 1, column 45: beside others a window needs the name of its stream
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE, B 2 MINUTES
-->                                                 ^^^^^^^^

-- # a stream twice
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A 1 MINUTE, B 1 MINUTE, A 2 MINUTES
--> line 1, column 69: stream 'A' is given a second window
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A 1 MINUTE, B 1 MINUTE, A 2 MINUTES
-->                                                                         ^^^^^^^^^^^

-- # two clauses
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE WINDOW 2 MINUTES
--> line 1, column 54: a query has one WINDOW clause, and this is a second
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE WINDOW 2 MINUTES
-->                                                          ^^^^^^

-- # before WHERE
SELECT A.k FROM A, B WINDOW 1 MINUTE WHERE A.k = B.k
--> line 1, column 38: expected the end of the query, and came WHERE
-->     SELECT A.k FROM A, B WINDOW 1 MINUTE WHERE A.k = B.k
-->                                          ^^^^^

-- # no rows
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 0
--> line 1, column 50: a row window has a whole number of rows, 1 or more
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 0
-->                                                      ^

-- # half a row
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 1.5
--> line 1, column 50: a row window has a whole number of rows, 1 or more
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 1.5
-->                                                      ^^^

-- # rows per nothing
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 100 PER
--> line 1, column 57: expected KEY, and nothing came
-->     SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 100 PER
-->                                                             ^

-- # rows per key without a key
SELECT A.k FROM A, B WHERE A.x < B.x WINDOW A ROWS 100 PER KEY, B 1 MINUTE
--> line 1, column 45: stream 'A' has a window per key, but no equality gives it a key
-->     SELECT A.k FROM A, B WHERE A.x < B.x WINDOW A ROWS 100 PER KEY, B 1 MINUTE
-->                                                 ^^^^^^^^^^^^^^^^^^
