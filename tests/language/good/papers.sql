-- # Share, first example: hot and wet at one place (with numbers for its thresholds)
SELECT T.LocationId
FROM Temperature T, Humidity H
WHERE T.Value > 40 and H.Value > 80
and T.LocationId = H.LocationId
WINDOW 1 min;
--> inner
--> T: window 1 minute
--> H: window 1 minute
--> equality T.LocationId = H.LocationId
--> only T if gt(T.Value, 40.0)
--> only H if gt(H.Value, 80.0)
--> LocationId int64 = T.LocationId

-- # Share, second example: a function of the user's own, and places that differ
SELECT T.LocationId, H.LocationId
FROM Temperature T, Humidity H
WHERE correlated(T.Value, H.Value) and T.LocationId
<> H.LocationId
WINDOW 30 min;
--> inner
--> T: window 30 minutes
--> H: window 30 minutes
--> residual correlated(T.Value, H.Value)
--> residual ne(T.LocationId, H.LocationId)
--> T_LocationId int64 = T.LocationId
--> H_LocationId int64 = H.LocationId

-- # Order: the join below its count
SELECT S.ItemType FROM SensorReadings1 S, SensorReadings2 T WHERE S.ItemType = T.ItemType WINDOW 10 minutes
--> inner
--> S: window 10 minutes
--> T: window 10 minutes
--> equality S.ItemType = T.ItemType
--> ItemType string = S.ItemType

-- # Kang: one join of two streams, each with its own window
SELECT A.k, A.x AS a, B.x AS b FROM A, B WHERE A.k = B.k WINDOW A 9 SECONDS, B 1 SECOND
--> inner
--> A: window 9 seconds
--> B: window 1 second
--> equality A.k = B.k
--> k int64 = A.k
--> a int64 = A.x
--> b int64 = B.x

-- # MJoin: many streams on one attribute, windows of rows
SELECT A.x, B.x, C.x FROM A, B, C WHERE A.k = B.k AND B.k = C.k WINDOW ROWS 10000
--> inner
--> A: window 10000 rows
--> B: window 10000 rows
--> C: window 10000 rows
--> equality A.k = B.k
--> equality B.k = C.k
--> A_x int64 = A.x
--> B_x int64 = B.x
--> C_x int64 = C.x

-- # MJoin: a chain over two attributes
SELECT A.k, C.s FROM A JOIN B ON A.k = B.k JOIN C ON B.s = C.s WINDOW 1 HOUR
--> inner
--> A: window 1 hour
--> B: window 1 hour
--> C: window 1 hour
--> equality A.k = B.k
--> equality B.s = C.s
--> k int64 = A.k
--> s string = C.s

-- # Grub, first example: objects seen by three sources at about the same place
SELECT A.y, B.y, C.y FROM A, B, C
WHERE ABS(A.y - B.y) <= 1 AND ABS(A.y - C.y) <= 1 WINDOW 20 SECONDS
--> inner
--> A: window 20 seconds
--> B: window 20 seconds
--> C: window 20 seconds
--> band -1.0 <= A.y - B.y <= 1.0
--> band -1.0 <= A.y - C.y <= 1.0
--> A_y double = A.y
--> B_y double = B.y
--> C_y double = C.y

-- # Grub, second example: similar news of three agencies
SELECT CNN.title, Reuters.title AS reuters, BBC.title AS bbc FROM CNN, Reuters, BBC
WHERE INNER_PRODUCT(CNN.words, Reuters.words) >= 0.8 AND INNER_PRODUCT(CNN.words, BBC.words) >= 0.8
WINDOW 2 HOURS
--> inner
--> CNN: window 2 hours
--> Reuters: window 2 hours
--> BBC: window 2 hours
--> similarity inner_product(cast(CNN.words as list<item: double>), cast(Reuters.words as list<item: double>)) >= 0.8
--> similarity inner_product(cast(CNN.words as list<item: double>), cast(BBC.words as list<item: double>)) >= 0.8
--> title string = CNN.title
--> reuters string = Reuters.title
--> bbc string = BBC.title
