-- # no query
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE SINK s WITH (format = 'noop');
--> the pipeline has no query; write INSERT INTO <sink> SELECT ... FROM ... WHERE ... WINDOW ...

-- # nothing
-- nothing at all
--> the pipeline has no query; write INSERT INTO <sink> SELECT ... FROM ... WHERE ... WINDOW ...

-- # another statement
CREATE VIEW A (k BIGINT);
--> line 1, column 1: expected CREATE STREAM, CREATE TABLE, CREATE SINK or INSERT INTO, and came CREATE
-->     CREATE VIEW A (k BIGINT);
-->     ^^^^^^

-- # a query without a sink
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
--> line 1, column 1: expected CREATE STREAM, CREATE TABLE, CREATE SINK or INSERT INTO, and came SELECT
-->     SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
-->     ^^^^^^

-- # a mistake in a query, at its line
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE SINK s WITH (format = 'noop');
INSERT INTO s SELECT x.k
FROM A x, A y
WHERE x.k = y.kk
WINDOW 1 DAY
--> line 5, column 13: stream 'y' has no column 'kk'; it has: k, ts. Did you mean 'k'?
-->     WHERE x.k = y.kk
-->                 ^^^^

-- # a stream that is not there
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE SINK s WITH (format = 'noop');
INSERT INTO s SELECT x.k FROM A x, Ab y WHERE x.k = y.k WINDOW 1 DAY
--> line 3, column 36: there is no stream 'Ab'; there is: A. Did you mean 'A'?
-->                   SELECT x.k FROM A x, Ab y WHERE x.k = y.k WINDOW 1 DAY
-->                                        ^^^^

-- # a sink that is not there
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE SINK alarms WITH (format = 'noop');
INSERT INTO alarm SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
--> line 3, column 13: there is no sink 'alarm'; there is: alarms. Did you mean 'alarms'?
-->     INSERT INTO alarm SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
-->                 ^^^^^

-- # two queries into one sink
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE SINK s WITH (format = 'noop');
INSERT INTO s SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY;
INSERT INTO s SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY;
--> line 4, column 13: sink 's' already has a query; give each its own
-->     INSERT INTO s SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY;
-->                 ^

-- # a stream twice
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM a (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
--> line 2, column 15: there are two declarations of stream 'a'
-->     CREATE STREAM a (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
-->                   ^

-- # a sink twice
CREATE SINK s WITH (format = 'noop');
CREATE SINK s WITH (format = 'noop');
--> line 2, column 13: there are two declarations of sink 's'
-->     CREATE SINK s WITH (format = 'noop');
-->                 ^

-- # a sink in place that is declared already
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE SINK s WITH (format = 'noop');
INSERT INTO s WITH (format = 'noop') SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
--> line 3, column 13: there are two declarations of sink 's'
-->     INSERT INTO s WITH (format = 'noop') SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
-->                 ^

-- # no watermark
CREATE STREAM A (k BIGINT, ts TIMESTAMP) WITH (format = 'rate');
--> line 1, column 40: expected WATERMARK FOR <time column> AS <time column> - INTERVAL '5' SECOND, and came )
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP) WITH (format = 'rate');
-->                                            ^

-- # two watermarks
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, WATERMARK FOR ts AS ts) WITH (format = 'rate');
--> line 1, column 66: a stream has one watermark, and this is a second
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, WATERMARK FOR ts AS ts) WITH (format = 'rate');
-->                                                                      ^^^^^^^^^^^^^^^^^^^^^^

-- # a watermark for a column that is not there
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR tz AS tz) WITH (format = 'rate');
--> line 1, column 56: there is no column 'tz' before this; there is: k, ts.
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR tz AS tz) WITH (format = 'rate');
-->                                                            ^^

-- # a watermark for a number
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR k AS k) WITH (format = 'rate');
--> line 1, column 56: the time column 'k' has type int64, and needs TIMESTAMP
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR k AS k) WITH (format = 'rate');
-->                                                            ^

-- # a watermark of another column
CREATE STREAM A (k TIMESTAMP, ts TIMESTAMP, WATERMARK FOR ts AS k) WITH (format = 'rate');
--> line 1, column 65: the watermark for ts is ts minus an interval
-->     CREATE STREAM A (k TIMESTAMP, ts TIMESTAMP, WATERMARK FOR ts AS k) WITH (format = 'rate');
-->                                                                     ^

-- # a watermark that is ahead
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts + INTERVAL '5' SECOND) WITH (format = 'rate');
--> line 1, column 65: expected ), and came +
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts + INTERVAL '5' SECOND) WITH (format = 'rate');
-->                                                                     ^

-- # a unit that is not there
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' MONTH) WITH (format = 'rate');
--> line 1, column 67: '5 MONTH' is not a duration; write a number and a unit, like '10 minutes' or '1.5 seconds'
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' MONTH) WITH (format = 'rate');
-->                                                                       ^^^^^^^^^^^^^^^^^^

-- # a type that is not there
CREATE STREAM A (k BIGNT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
--> line 1, column 20: there is no type BIGNT; there is: BOOLEAN, TINYINT, BYTE, SMALLINT, SHORT, INT, INTEGER, BIGINT, LONG, FLOAT, REAL, DOUBLE, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_NTZ, DECIMAL, ARRAY, MAP, STRUCT. Did you mean 'BIGINT'?
-->     CREATE STREAM A (k BIGNT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
-->                        ^^^^^

-- # a decimal with too many digits
CREATE STREAM A (k DECIMAL(40, 2), ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
--> line 1, column 20: a DECIMAL has 1 to 38 digits, and no more of them after the point
-->     CREATE STREAM A (k DECIMAL(40, 2), ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
-->                        ^^^^^^^^^^^^^^

-- # an array of nothing
CREATE STREAM A (k ARRAY, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
--> line 1, column 25: expected <, and came ,
-->     CREATE STREAM A (k ARRAY, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
-->                             ^

-- # a word after the type
CREATE STREAM A (k BIGINT NOT NULL, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
--> line 1, column 27: expected ), and came NOT
-->     CREATE STREAM A (k BIGINT NOT NULL, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
-->                               ^^^

-- # a column twice
CREATE STREAM A (k BIGINT, k INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
--> line 1, column 28: there are two columns 'k'
-->     CREATE STREAM A (k BIGINT, k INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
-->                                ^

-- # no options
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
--> line 1, column 65: expected WITH, and nothing came
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
-->                                                                     ^

-- # no format
CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (path = 'in');
--> line 1, column 83: the options need format = '...'
-->     CREATE STREAM A (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (path = 'in');
-->                                                                                       ^

-- # an option twice
CREATE SINK s WITH (format = 'parquet', path = 'a', 'PATH' = 'b');
--> line 1, column 53: option 'PATH' is given a second time
-->     CREATE SINK s WITH (format = 'parquet', path = 'a', 'PATH' = 'b');
-->                                                         ^^^^^^

-- # a value without quotes
CREATE SINK s WITH (format = parquet);
--> line 1, column 30: expected a value in single quotes, and came parquet
-->     CREATE SINK s WITH (format = parquet);
-->                                  ^^^^^^^

-- # no checkpoint where results are kept
CREATE SINK s WITH (format = 'parquet', path = 'out');
--> line 1, column 53: the options need checkpoint = '...'
-->     CREATE SINK s WITH (format = 'parquet', path = 'out');
-->                                                         ^

-- # a forgotten semicolon
CREATE SINK s WITH (format = 'noop')
INSERT INTO s SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
--> line 2, column 1: expected a semicolon, and came INSERT
-->     INSERT INTO s SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 DAY
-->     ^^^^^^

-- # no SELECT
CREATE SINK s WITH (format = 'noop');
INSERT INTO s VALUES (1);
--> line 2, column 15: expected WITH (...) or SELECT, and came VALUES
-->     INSERT INTO s VALUES (1);
-->                   ^^^^^^

-- # the end comes too soon
CREATE STREAM A (k BIGINT,
--> line 1, column 27: expected the name of a column, and nothing came
-->     CREATE STREAM A (k BIGINT,
-->                               ^
