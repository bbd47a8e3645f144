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
--> line 3, column 38: late='divert': it is one of 'drop', 'keep'
-->     CREATE SINK s WITH (format = 'noop', late = 'divert');
-->                                          ^^^^^^^^^^^^^^^

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
