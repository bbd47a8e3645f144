-- # two streams, a sink, a query
-- Places that are hot and wet.
CREATE STREAM Temperature (
    location STRING,
    value DOUBLE,
    ts TIMESTAMP,
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (format = 'parquet', path = 'in/temperature', 'maxFilesPerTrigger' = '1');

CREATE STREAM Humidity (
    location STRING, value DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 500 MILLISECONDS
) WITH (format = 'json', path = 'in/humidity', multiLine = TRUE, maxFilesPerTrigger = 10);

CREATE SINK alarms WITH (format = 'parquet', path = 'out/alarms', checkpoint = 'out/alarms.checkpoint');

INSERT INTO alarms
SELECT T.location, T.value AS temperature, H.value AS humidity
FROM Temperature T, Humidity H
WHERE T.location = H.location AND T.value > 40 AND H.value > 80
WINDOW 1 MINUTE;
--> Temperature: location string, value double, ts timestamp[us, tz=UTC]; time ts less 5000000 us
-->     from parquet {'path': 'in/temperature', 'maxFilesPerTrigger': '1'}
--> Humidity: location string, value double, ts timestamp[us, tz=UTC]; time ts less 500000 us
-->     from json {'path': 'in/humidity', 'multiLine': 'true', 'maxFilesPerTrigger': '10'}
--> inner join of T, H into alarms: result_time, location, temperature, humidity
-->     to parquet {'path': 'out/alarms'}, checkpoint out/alarms.checkpoint

-- # several queries over the same streams, sinks in place, any order of declarations
CREATE SINK near WITH (format = 'noop');
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP_NTZ, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM B (k BIGINT, x DOUBLE, ts TIMESTAMP_NTZ, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO near SELECT A.k FROM A, B WHERE ABS(A.x - B.x) < 1 WINDOW A 1 MINUTE, B ROWS 10;
INSERT INTO alone WITH (format = 'console', truncate = false) SELECT k FROM A LEFT ANTI JOIN B ON A.k = B.k WINDOW 1 HOUR;
INSERT INTO "kept safe" WITH (format = 'delta', 'path' = '/x;y', "checkpoint" = 'it''s here')
SELECT * FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR
--> A: k int64, x double, ts timestamp[us]; time ts less 0 us
-->     from rate {}
--> B: k int64, x double, ts timestamp[us]; time ts less 0 us
-->     from rate {}
--> inner join of A, B into near: result_time, k
-->     to noop {}, checkpoint None
--> anti join of A, B into alone: result_time, k
-->     to console {'truncate': 'false'}, checkpoint None
--> inner join of x, y into kept safe: result_time, x_k, x_x, x_ts, y_k, y_x, y_ts
-->     to delta {'path': '/x;y'}, checkpoint it's here

-- # every type
CREATE STREAM A (
    a BOOLEAN, b TINYINT, c BYTE, d SMALLINT, e INT, f INTEGER, g LONG, h FLOAT, i REAL, j BINARY, k DATE, l DECIMAL,
    m DECIMAL(9), n NUMERIC(9, 2), o ARRAY<ARRAY<DOUBLE>>, p MAP<STRING, ARRAY<INT>>, q STRUCT<x: INT, y ARRAY<STRING>>,
    `odd name` STRING, watermark TIMESTAMP_LTZ, WATERMARK FOR watermark AS watermark - INTERVAL '1.5' MINUTES
) WITH (format = 'orc', path = '/a');
INSERT INTO s WITH (format = 'memory')
SELECT x.e, y.`odd name` FROM A x, A y WHERE x.g = y.g WINDOW 1 DAY;
--> A: a bool, b int8, c int8, d int16, e int32, f int32, g int64, h float, i float, j binary, k date32[day], l decimal128(10, 0), m decimal128(9, 0), n decimal128(9, 2), o list<element: list<element: double>>, p map<string, list<element: int32>>, q struct<x: int32, y: list<element: string>>, odd name string, watermark timestamp[us, tz=UTC]; time watermark less 90000000 us
-->     from orc {'path': '/a'}
--> inner join of x, y into s: result_time, e, odd name
-->     to memory {}, checkpoint None
