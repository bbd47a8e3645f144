-- # an order that there is not
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', rowsPerSecond = 5);
CREATE SINK s WITH (format = 'noop', order = 'sorted');
--> line 3, column 38: order='sorted': it is one of 'none', 'sync', 'hold', 'adaptive'
-->     CREATE SINK s WITH (format = 'noop', order = 'sorted');
-->                                          ^^^^^^^^^^^^^^^^

-- # late rows that nobody would get
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', rowsPerSecond = 5);
CREATE SINK s WITH (format = 'noop', late = 'divert');
--> line 3, column 53: the options need checkpoint = '...'
-->     CREATE SINK s WITH (format = 'noop', late = 'divert');
-->                                                         ^

-- # late rows without a place
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', rowsPerSecond = 5);
CREATE SINK s WITH (format = 'noop', checkpoint = 'c', late = 'divert');
--> line 3, column 71: the options need late_path = '...'
-->     CREATE SINK s WITH (format = 'noop', checkpoint = 'c', late = 'divert');
-->                                                                           ^

-- # a place for late rows that are dropped
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', rowsPerSecond = 5);
CREATE SINK s WITH (format = 'noop', checkpoint = 'c', late_path = 'l');
--> line 3, column 56: late_path is not an option: it is for the rows of late = 'divert', and late is 'drop'
-->     CREATE SINK s WITH (format = 'noop', checkpoint = 'c', late_path = 'l');
-->                                                            ^^^^^^^^^^^^^^^

-- # a trigger that is no duration
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', rowsPerSecond = 5);
CREATE SINK s WITH (format = 'noop', trigger = 'often');
--> line 3, column 38: trigger 'often' is not a duration; write a number and a unit, like '10 minutes' or '1.5 seconds'
-->     CREATE SINK s WITH (format = 'noop', trigger = 'often');
-->                                          ^^^^^^^^^^^^^^^^^

-- # an idle time that is no duration
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate', idle = 10);
--> line 1, column 89: idle '10' is not a duration; write a number and a unit, like '10 minutes' or '1.5 seconds'
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate', idle = 10);
-->                                                                                             ^^^^^^^^^

-- # a delay that is no option
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate', delay = '5 seconds');
--> line 1, column 89: delay is not an option: WATERMARK states it, as in WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate', delay = '5 seconds');
-->                                                                                             ^^^^^^^^^^^^^^^^^^^

-- # no checkpoint
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', rowsPerSecond = 5);
CREATE SINK s WITH (format = 'parquet', path = '/x');
--> line 3, column 52: the options need checkpoint = '...'
-->     CREATE SINK s WITH (format = 'parquet', path = '/x');
-->                                                        ^

-- # a plan that is no nesting
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', plan = '((x, y')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 38: plan must be a word, or a nesting of streams such as '((A, B), C)', got '((x, y'
-->     INSERT INTO s WITH (format = 'noop', plan = '((x, y')
-->                                          ^^^^^^^^^^^^^^^

-- # an algorithm that is none
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', algorithm = 'x y z')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 38: algorithm must be one word, or a list such as 'A hash, B scan', got 'x y z'
-->     INSERT INTO s WITH (format = 'noop', algorithm = 'x y z')
-->                                          ^^^^^^^^^^^^^^^^^^^

-- # a plan of other streams
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', plan = '(A, B)')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> plan=('A', 'B'): the query has no stream 'A'; it has: x, y.

-- # partitions that are no number
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', partitions = 'many')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 38: partitions must be a whole number, got 'many'
-->     INSERT INTO s WITH (format = 'noop', partitions = 'many')
-->                                          ^^^^^^^^^^^^^^^^^^^

-- # a policy without a budget
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', policy = 'spill')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 54: budget(): give cpu=, memory= or both; a budget of nothing limits nothing
-->     INSERT INTO s WITH (format = 'noop', policy = 'spill')
-->                                                          ^

-- # a budget that does not fit
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', cpu = 0.5, policy = 'spill')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 65: budget(cpu=..., policy='spill'): too little CPU takes 'harvest' or 'drop'
-->     INSERT INTO s WITH (format = 'noop', cpu = 0.5, policy = 'spill')
-->                                                                     ^

-- # a share that is none
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', cpu = 0)
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 45: budget(cpu=0.0): it is a number of cores above 0, like 0.5
-->     INSERT INTO s WITH (format = 'noop', cpu = 0)
-->                                                 ^

-- # a truth that is none
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', cpu = 0.5, strict = 'maybe')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 49: strict must be true or false, got 'maybe'
-->     INSERT INTO s WITH (format = 'noop', cpu = 0.5, strict = 'maybe')
-->                                                     ^^^^^^^^^^^^^^^^

-- # a schedule that is none
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO s WITH (format = 'noop', schedule = 'fastest')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 38: schedule='fastest': it is one of 'greedy', 'smallest', 'largest'
-->     INSERT INTO s WITH (format = 'noop', schedule = 'fastest')
-->                                          ^^^^^^^^^^^^^^^^^^^^

-- # a union of streams that differ
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM B (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM C AS SELECT * FROM A UNION ALL SELECT * FROM B;
INSERT INTO s WITH (format = 'noop') SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 3, column 60: 'A' and 'B' differ in their columns or time; UNION ALL needs the same in both
-->     CREATE STREAM C AS SELECT * FROM A UNION ALL SELECT * FROM B;
-->                                                                ^

-- # a union of a stream that there is not
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM C AS SELECT * FROM A UNION ALL SELECT * FROM Z;
INSERT INTO s WITH (format = 'noop') SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 60: UNION ALL is of declared streams; there is: A.
-->     CREATE STREAM C AS SELECT * FROM A UNION ALL SELECT * FROM Z;
-->                                                                ^

-- # a stream made of a query that is wrong
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM C AS SELECT x.kk FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
INSERT INTO s WITH (format = 'noop') SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> line 2, column 27: stream 'x' has no column 'kk'; it has: k, x, ts. Did you mean 'k'?
-->                        SELECT x.kk FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR
-->                               ^^^^
