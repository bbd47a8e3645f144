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
