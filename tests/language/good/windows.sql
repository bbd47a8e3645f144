-- # one for all
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 10 MINUTES
--> inner
--> A: window 10 minutes
--> B: window 10 minutes
--> equality A.k = B.k
--> k int64 = A.k

-- # one unit, a fraction of it
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1.5 hours
--> inner
--> A: window 90 minutes
--> B: window 90 minutes
--> equality A.k = B.k
--> k int64 = A.k

-- # number and unit written together
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 250ms
--> inner
--> A: window 250 milliseconds
--> B: window 250 milliseconds
--> equality A.k = B.k
--> k int64 = A.k

-- # zero means equal times
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 0 SECONDS
--> inner
--> A: window 0 seconds
--> B: window 0 seconds
--> equality A.k = B.k
--> k int64 = A.k

-- # one per stream
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A 10 MINUTES, B 1 MINUTE
--> inner
--> A: window 10 minutes
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k

-- # rows for one, time for the other
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A ROWS 10000, B 1 MINUTE
--> inner
--> A: window 10000 rows
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k

-- # rows for all
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 5
--> inner
--> A: window 5 rows
--> B: window 5 rows
--> equality A.k = B.k
--> k int64 = A.k

-- # rows of each key
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 100 PER KEY
--> inner
--> A: window 100 rows per key
--> B: window 100 rows per key
--> equality A.k = B.k
--> k int64 = A.k

-- # rows of each key for one
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A ROWS 100 PER KEY, B 1 DAY
--> inner
--> A: window 100 rows per key
--> B: window 1 day
--> equality A.k = B.k
--> k int64 = A.k

-- # by alias, whatever its case
SELECT t.Value FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW h 2 weeks, t 1 day
--> inner
--> T: window 1 day
--> H: window 2 weeks
--> equality T.LocationId = H.LocationId
--> Value double = T.Value

-- # a stream with a window of its own needs none
SELECT A.k FROM A, Alerts WHERE A.k = Alerts.k WINDOW A 10 SECONDS
--> inner
--> A: window 10 seconds
--> Alerts: window 3 minutes
--> equality A.k = Alerts.k
--> k int64 = A.k

-- # the text is stronger than the stream
SELECT A.k FROM A, Alerts WHERE A.k = Alerts.k WINDOW 10 SECONDS
--> inner
--> A: window 10 seconds
--> Alerts: window 10 seconds
--> equality A.k = Alerts.k
--> k int64 = A.k

-- # streams with windows of their own need no clause
SELECT x.k FROM Alerts x, Alerts y WHERE x.k = y.k
--> inner
--> x: window 3 minutes
--> y: window 3 minutes
--> equality x.k = y.k
--> k int64 = x.k

-- # a column named window
SELECT A.window AS window FROM A, B WHERE A.window = B.window WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.window = B.window
--> window int64 = A.window

-- # a quoted stream
SELECT o.k FROM "odd stream" o, A "other one" WHERE o.k = "other one".k WINDOW "other one" 1 MINUTE, o ROWS 3
--> inner
--> o: window 3 rows
--> other one: window 1 minute
--> equality o.k = other one.k
--> k int64 = o.k

-- # no window at all
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW UNBOUNDED
--> inner
--> A: window unbounded
--> B: window unbounded
--> equality A.k = B.k
--> k int64 = A.k

-- # none for one
SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A UNBOUNDED, B 1 MINUTE
--> inner
--> A: window unbounded
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k

-- # since the hour began
SELECT A.k FROM A, B WHERE A.k = B.k AND DATE_TRUNC('hour', A.ts) = DATE_TRUNC('hour', B.ts) AND A.ts <= B.ts
--> inner
--> A: window 3599999999 microseconds
--> B: window 0 seconds
--> equality A.k = B.k
--> equality date_trunc('hour', A.ts) = date_trunc('hour', B.ts)
--> band epoch_us(A.ts) - epoch_us(B.ts) <= 0
--> k int64 = A.k

-- # a bound for each pair
SELECT A.k FROM A, B, C WHERE ABS(A.ts - B.ts) <= INTERVAL '5' SECOND AND C.ts BETWEEN B.ts + INTERVAL '1' MINUTE AND B.ts + INTERVAL '2' MINUTE
--> inner
--> A: window 125 seconds
--> B: window 2 minutes
--> C: window 0 seconds
--> band -5000000 <= epoch_us(A.ts) - epoch_us(B.ts) <= 5000000
--> band -120000000 <= epoch_us(B.ts) - epoch_us(C.ts) <= -60000000
--> k int64 = A.k
