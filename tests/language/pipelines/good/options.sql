-- # order, late rows, idle streams and triggers
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', AHEAD = '1 hour', rowsPerSecond = 5);
INSERT INTO s WITH (format = 'noop', order = 'hold', late = 'keep', trigger = '10 seconds', other = 'for Spark')
SELECT x.k FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
--> A: k int64, x double, ts timestamp[us, tz=UTC]; time ts less 5000000 us
-->     from rate {'rowsPerSecond': '5'}
-->     silent after 10000000 us
-->     ahead by 3600000000 us at most
--> inner join of x, y into s: result_time, k
-->     to noop {'other': 'for Spark'}, checkpoint None
-->     order hold, late keep, every 10000000 us

-- # an aggregate brings its order with it, and may choose another
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (format = 'rate', idle = '10 seconds', rowsPerSecond = 5);
INSERT INTO n WITH (format = 'noop') SELECT COUNT(*) AS n FROM A x, A y WHERE x.k = y.k WINDOW 1 HOUR;
INSERT INTO m WITH (format = 'noop', ORDER = 'Adaptive') SELECT x.k, MAX(y.x) AS m FROM A x, A y WHERE x.k = y.k GROUP BY x.k WINDOW 1 HOUR;
--> A: k int64, x double, ts timestamp[us, tz=UTC]; time ts less 5000000 us
-->     from rate {'rowsPerSecond': '5'}
-->     silent after 10000000 us
--> inner join of x, y into n: result_time, n
-->     to noop {}, checkpoint None
-->     order hold, late drop, every None us
--> inner join of x, y into m: result_time, k, m
-->     to noop {}, checkpoint None
-->     order adaptive(0.3), late drop, every None us

-- # everything that a query can be told
CREATE STREAM A (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM B (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM C (k BIGINT, x DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
INSERT INTO spilled WITH (format = 'noop', memory = '512 MB', policy = 'spill', spill_folder = '/fast', plan = '((A, B), C)', partitions = 4)
SELECT A.k FROM A, B, C WHERE A.k = B.k AND B.k = C.k WINDOW 1 HOUR;
INSERT INTO shed WITH (format = 'noop', cpu = 0.5, memory = '1000 tuples', min_completeness = 0.9, strict = TRUE, algorithm = 'A hash, B scan', invalidation = 'lazy')
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 HOUR;
INSERT INTO scheduled WITH (format = 'noop', schedule = 'largest', algorithm = 'scan', plan = 'multiway')
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 HOUR;
--> A: k int64, x double, ts timestamp[us, tz=UTC]; time ts less 0 us
-->     from rate {}
--> B: k int64, x double, ts timestamp[us, tz=UTC]; time ts less 0 us
-->     from rate {}
--> C: k int64, x double, ts timestamp[us, tz=UTC]; time ts less 0 us
-->     from rate {}
--> inner join of A, B, C into spilled: result_time, k
-->     to noop {}, checkpoint None
-->     schedule greedy, partitions 4, plan (('A', 'B'), 'C'), budget memory 512 MB, spill
--> inner join of A, B into shed: result_time, k
-->     to noop {}, checkpoint None
-->     schedule greedy, invalidation lazy, algorithm {'A': 'hash', 'B': 'scan'}, budget cpu 0.5, memory 1000 tuples, harvest, completeness 0.9 or more
--> inner join of A, B into scheduled: result_time, k
-->     to noop {}, checkpoint None
-->     schedule largest, algorithm scan, plan multiway

-- # streams made of results and of other streams
CREATE STREAM North (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (format = 'rate');
CREATE STREAM South (k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH (format = 'rate');
CREATE STREAM readings AS SELECT * FROM South UNION ALL SELECT * FROM North;
CREATE STREAM pairs AS SELECT R.k FROM readings R, North N WHERE R.k = N.k WINDOW 10 SECONDS;
INSERT INTO s WITH (format = 'noop') SELECT P.k, P.result_time AS at FROM pairs P, South S WHERE P.k = S.k WINDOW 1 MINUTE;
--> North: k int64, ts timestamp[us, tz=UTC]; time ts less 5000000 us
-->     from rate {}
--> South: k int64, ts timestamp[us, tz=UTC]; time ts less 2000000 us
-->     from rate {}
--> readings is South and North
--> pairs is made of results
--> inner join of P, S into s: result_time, k, at
-->     to noop {}, checkpoint None

-- # a stream beside a table that is read once, by a field of a structure, without windows
CREATE STREAM Trips (trip STRUCT<id: BIGINT, place: STRING>, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'rate');
CREATE STREAM Names (id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (format = 'parquet', path = 'names', reader = 'dovetail', static = 'true');
INSERT INTO s WITH (format = 'noop') SELECT T.trip.place, N.id FROM Trips T LEFT JOIN Names N ON T.trip.id = N.id;
--> Trips: trip struct<id: int64, place: string>, ts timestamp[us, tz=UTC]; time ts less 0 us
-->     from rate {}
--> Names: id int64, ts timestamp[us, tz=UTC]; time ts less 0 us
-->     from parquet {}
--> left join of T, N into s: result_time, place, id
-->     to noop {}, checkpoint None
