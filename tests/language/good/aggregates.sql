-- # Order: its query as it stands, with a count of different values
SELECT COUNT(DISTINCT S.ItemType) FROM SensorReadings1 S, SensorReadings2 T WHERE S.ItemType = T.ItemType WINDOW 10 minutes
--> inner
--> S: window 10 minutes
--> T: window 10 minutes
--> equality S.ItemType = T.ItemType
--> argument 0 string = S.ItemType
--> until int64 = least(add(epoch_us(S.ts), 600000000), add(epoch_us(T.ts), 600000000))
--> for all
--> aggregate 0 int64 = count distinct(argument 0)
--> count(distinct s.itemtype) int64 = aggregate 0

-- # a count of all results
SELECT COUNT(*) AS n FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for all
--> aggregate 0 int64 = count(*)
--> n int64 = aggregate 0

-- # per group
SELECT T.LocationId, COUNT(DISTINCT H.Value) AS kinds
FROM Temperature T, Humidity H
WHERE T.LocationId = H.LocationId AND ABS(T.Value - H.Value) <= 1.5
GROUP BY T.LocationId
WINDOW 10 MINUTES
--> inner
--> T: window 10 minutes
--> H: window 10 minutes
--> equality T.LocationId = H.LocationId
--> band -1.5 <= T.Value - H.Value <= 1.5
--> key 0 int64 = T.LocationId
--> argument 0 double = H.Value
--> until int64 = least(add(epoch_us(T.ts), 600000000), add(epoch_us(H.ts), 600000000))
--> for each key 0
--> aggregate 0 int64 = count distinct(argument 0)
--> LocationId int64 = key 0
--> kinds int64 = aggregate 0

-- # every function and its type
SELECT COUNT(A.s) AS c, SUM(A.x) AS sx, SUM(A.y) AS sy, SUM(A.p) AS sp, AVG(A.x) AS ax, AVG(A.p) AS ap, MIN(A.s) AS ms, MAX(A.d) AS md
FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> argument 0 string = A.s
--> argument 1 int64 = A.x
--> argument 2 double = A.y
--> argument 3 decimal128(10, 2) = A.p
--> argument 4 date32[day] = A.d
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for all
--> aggregate 0 int64 = count(argument 0)
--> aggregate 1 int64 = sum(argument 1)
--> aggregate 2 double = sum(argument 2)
--> aggregate 3 decimal128(38, 2) = sum(argument 3)
--> aggregate 4 double = avg(argument 1)
--> aggregate 5 double = avg(argument 3)
--> aggregate 6 string = min(argument 0)
--> aggregate 7 date32[day] = max(argument 4)
--> c int64 = aggregate 0
--> sx int64 = aggregate 1
--> sy double = aggregate 2
--> sp decimal128(38, 2) = aggregate 3
--> ax double = aggregate 4
--> ap double = aggregate 5
--> ms string = aggregate 6
--> md date32[day] = aggregate 7

-- # expressions over aggregates, each aggregate kept once
SELECT SUM(B.y) / COUNT(*) AS mean, 1 + count(*) AS more, CASE WHEN MAX(A.x) > 3 THEN 'high' ELSE 'low' END AS level
FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> argument 0 double = B.y
--> argument 1 int64 = A.x
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for all
--> aggregate 0 double = sum(argument 0)
--> aggregate 1 int64 = count(*)
--> aggregate 2 int64 = max(argument 1)
--> mean double = divide(aggregate 0, cast(aggregate 1 as double))
--> more int64 = add(1, aggregate 1)
--> level string = case(gt(aggregate 2, 3), 'high', 'low')

-- # expressions inside aggregates
SELECT SUM(A.x * B.x) AS product, MAX(ABS(A.y - B.y)) AS apart FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> argument 0 int64 = multiply(A.x, B.x)
--> argument 1 double = abs(subtract(A.y, B.y))
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for all
--> aggregate 0 int64 = sum(argument 0)
--> aggregate 1 double = max(argument 1)
--> product int64 = aggregate 0
--> apart double = aggregate 1

-- # groups by an expression and by two streams
SELECT A.x % 10 AS digit, B.s, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.x % 10, B.s WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> key 0 int64 = modulo(A.x, 10)
--> key 1 string = B.s
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for each key 0 & key 1
--> aggregate 0 int64 = count(*)
--> digit int64 = key 0
--> s string = key 1
--> n int64 = aggregate 0

-- # part of an expression is a key
SELECT UPPER(A.s) || '!' AS loud, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.s WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> key 0 string = A.s
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for each key 0
--> aggregate 0 int64 = count(*)
--> loud string = concat(upper(key 0), '!')
--> n int64 = aggregate 0

-- # groups that are not shown
SELECT MAX(A.y) FROM A, B WHERE A.k = B.k GROUP BY A.s WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> key 0 string = A.s
--> argument 0 double = A.y
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for each key 0
--> aggregate 0 double = max(argument 0)
--> max(a.y) double = aggregate 0

-- # an aggregate and a key whose names need care
SELECT A."odd name", min(A."window") FROM A, B WHERE A.k = B.k GROUP BY A."odd name" WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> key 0 int32 = A.odd name
--> argument 0 int64 = A.window
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for each key 0
--> aggregate 0 int64 = min(argument 0)
--> odd name int32 = key 0
--> min(a."window") int64 = aggregate 0

-- # of unmatched rows
SELECT A.s, COUNT(*) AS unanswered FROM A LEFT ANTI JOIN B ON A.k = B.k GROUP BY A.s WINDOW A 1 MINUTE, B 2 MINUTES
--> anti
--> A: window 1 minute
--> B: window 2 minutes
--> equality A.k = B.k
--> key 0 string = A.s
--> until int64 = add(epoch_us(A.ts), 60000000)
--> for each key 0
--> aggregate 0 int64 = count(*)
--> s string = key 0
--> unanswered int64 = aggregate 0

-- # of an outer join: NULL is not counted
SELECT COUNT(B.k) AS answered, COUNT(*) AS every FROM A LEFT JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> left
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> argument 0 int64 = B.k
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for all
--> aggregate 0 int64 = count(argument 0)
--> aggregate 1 int64 = count(*)
--> answered int64 = aggregate 0
--> every int64 = aggregate 1

-- # over three streams with windows of their own
SELECT C.k, AVG(A.y) AS a FROM A JOIN B ON A.k = B.k JOIN C ON B.x = C.x GROUP BY C.k WINDOW A 1 MINUTE, B 2 MINUTES, C 3 MINUTES
--> inner
--> A: window 1 minute
--> B: window 2 minutes
--> C: window 3 minutes
--> equality A.k = B.k
--> equality B.x = C.x
--> key 0 int64 = C.k
--> argument 0 double = A.y
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 120000000), add(epoch_us(C.ts), 180000000))
--> for each key 0
--> aggregate 0 double = avg(argument 0)
--> k int64 = key 0
--> a double = aggregate 0

-- # MIN of different values is MIN
SELECT MIN(DISTINCT A.x) AS least FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> argument 0 int64 = A.x
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for all
--> aggregate 0 int64 = min(argument 0)
--> least int64 = aggregate 0

-- # groups that are large enough
SELECT A.k, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.k HAVING COUNT(*) > 3 AND SUM(B.x) < 10 WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> key 0 int64 = A.k
--> argument 0 int64 = B.x
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for each key 0
--> aggregate 0 int64 = count(*)
--> aggregate 1 int64 = sum(argument 0)
--> k int64 = key 0
--> n int64 = aggregate 0
--> having and(gt(aggregate 0, 3), lt(aggregate 1, 10))

-- # equal rows once
SELECT DISTINCT A.k, B.x + 1 AS y FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> key 0 int64 = A.k
--> key 1 int64 = add(B.x, 1)
--> until int64 = least(add(epoch_us(A.ts), 60000000), add(epoch_us(B.ts), 60000000))
--> for each key 0 & key 1
--> aggregate 0 int64 = count(*)
--> aggregate 1 int64 = before(*)
--> k int64 = key 0
--> y int64 = key 1
--> having and(eq(aggregate 1, 0), gt(aggregate 0, 0))
