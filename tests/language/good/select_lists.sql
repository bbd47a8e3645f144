-- # a column keeps its name
SELECT A.k, A.x FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k
--> x int64 = A.x

-- # two of one name take the names of their streams
SELECT A.k, B.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> A_k int64 = A.k
--> B_k int64 = B.k

-- # AS, and without AS
SELECT A.x AS a, B.x b FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> a int64 = A.x
--> b int64 = B.x

-- # expressions
SELECT A.x + B.x AS total, ROUND(A.y / 2) AS half, COALESCE(A.s, 'none') AS s FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> total int64 = add(A.x, B.x)
--> half double = round(divide(A.y, 2.0), 0)
--> s string = coalesce(A.s, 'none')

-- # an expression is named by its text
SELECT ABS(A.x - B.x) FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> abs(a.x - b.x) int64 = abs(subtract(A.x, B.x))

-- # everything
SELECT * FROM SensorReadings1 S, Humidity H WHERE CAST(S.ItemType AS BIGINT) = H.LocationId WINDOW 1 MINUTE
--> inner
--> S: window 1 minute
--> H: window 1 minute
--> equality cast(S.ItemType as int64) = H.LocationId
--> ItemType string = S.ItemType
--> S_ts timestamp[us] = S.ts
--> LocationId int64 = H.LocationId
--> Value double = H.Value
--> H_ts timestamp[us] = H.ts

-- # everything of one
SELECT H.*, S.ItemType FROM SensorReadings1 S, Humidity H WHERE S.ts = H.ts WINDOW 1 MINUTE
--> inner
--> S: window 1 minute
--> H: window 1 minute
--> equality S.ts = H.ts
--> LocationId int64 = H.LocationId
--> Value double = H.Value
--> ts timestamp[us] = H.ts
--> ItemType string = S.ItemType

-- # a constant
SELECT 'hot' AS kind, 1 AS weight, A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> kind string = 'hot'
--> weight int64 = 1
--> k int64 = A.k

-- # quoted names
SELECT A."odd name" AS "very odd", B.`odd name` FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> very odd int32 = A.odd name
--> odd name int32 = B.odd name

-- # a function of the user's own
SELECT correlated(A.y, B.y) AS together FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> together bool = correlated(A.y, B.y)

-- # times and decimals
SELECT A.ts - B.ts AS apart, A.p * 2 AS double, EXTRACT(HOUR FROM A.ts) AS h FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> apart duration[us] = cast(subtract(epoch_us(A.ts), epoch_us(B.ts)) as duration[us])
--> double decimal128(31, 2) = multiply(A.p, Decimal('2'))
--> h int64 = hour(A.ts)

-- # keywords in lower case
select a.k as key from A a, B b where a.k = b.k window 1 minute
--> inner
--> a: window 1 minute
--> b: window 1 minute
--> equality a.k = b.k
--> key int64 = a.k

-- # fields of structures
SELECT t.trip.id, u.trip.id, t.trip.at.lat, u.trip.at AS there FROM Trips t, Trips u WHERE t.trip.id = u.trip.id AND t.trip.at.lat > 3 WINDOW 1 MINUTE
--> inner
--> t: window 1 minute
--> u: window 1 minute
--> equality t.trip.id = u.trip.id
--> only t if gt(t.trip.at.lat, 3.0)
--> t_trip_id int64 = t.trip.id
--> u_trip_id int64 = u.trip.id
--> lat double = t.trip.at.lat
--> there struct<lat: double, lon: double> = u.trip.at

-- # a field that only one stream has
SELECT trip.at.lat FROM Trips, A WHERE trip.id = A.k WINDOW 1 MINUTE
--> inner
--> Trips: window 1 minute
--> A: window 1 minute
--> equality Trips.trip.id = A.k
--> lat double = Trips.trip.at.lat
