-- # a stream that is not there
SELECT T.Value FROM Temprature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
--> line 1, column 21: there is no stream 'Temprature'; there is: Trips, Temperature, Humidity, SensorReadings1, SensorReadings2, CNN, Reuters, BBC, A, B, C, odd stream, Alerts. Did you mean 'Temperature'?
-->     SELECT T.Value FROM Temprature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
-->                         ^^^^^^^^^^^^

-- # a column that is not there
SELECT T.LocationId
FROM Temperature T, Humidity H
WHERE T.LocationId = H.LocationId
  AND T.Vlaue > 40
WINDOW 1 MINUTE
--> line 4, column 7: stream 'T' has no column 'Vlaue'; it has: LocationId, Value, ts. Did you mean 'Value'?
-->       AND T.Vlaue > 40
-->           ^^^^^^^

-- # a column that is not there, in the select list
SELECT T.LocationID, H.Valu AS humidity FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
--> line 1, column 22: stream 'H' has no column 'Valu'; it has: LocationId, Value, ts. Did you mean 'Value'?
-->     SELECT T.LocationID, H.Valu AS humidity FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
-->                          ^^^^^^

-- # the declared name, hidden by an alias
SELECT Temperature.Value FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
--> line 1, column 8: there is no stream 'Temperature'; the query has: T, H.
-->     SELECT Temperature.Value FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^^

-- # a column that several streams have
SELECT Value FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
--> line 1, column 8: column 'Value' is in more than one stream; write T.Value or H.Value
-->     SELECT Value FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
-->            ^^^^^

-- # a column that no stream has
SELECT Volume FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
--> line 1, column 8: no stream has a column 'Volume'; there is: LocationId, Value, ts. Did you mean 'Value'?
-->     SELECT Volume FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW 1 MINUTE
-->            ^^^^^^

-- # a stream twice under one name
SELECT A.k FROM A, A WHERE A.k = A.k WINDOW 1 MINUTE
--> line 1, column 20: two streams are named 'A' here; give one an alias: FROM A x, A y
-->     SELECT A.k FROM A, A WHERE A.k = A.k WINDOW 1 MINUTE
-->                        ^

-- # an alias twice
SELECT a.k FROM A a, B a WHERE a.k = a.k WINDOW 1 MINUTE
--> line 1, column 22: two streams are named 'a' here; give one an alias: FROM A x, A y
-->     SELECT a.k FROM A a, B a WHERE a.k = a.k WINDOW 1 MINUTE
-->                          ^^^

-- # a function that is not there
SELECT A.k FROM A, B WHERE ABSOLUTE(A.x - B.x) < 3 WINDOW 1 MINUTE
--> line 1, column 28: there is no function 'ABSOLUTE' as in "ABSOLUTE(A.x - B.x)"; there is: ABS, AVG, CEIL, CEILING, CHAR_LENGTH, COALESCE, CONCAT, COSINE_SIMILARITY, COUNT, DATE_TRUNC, DAY, EPOCH_US, EXP, FLOOR, GREATEST, HOUR, IFNULL, INNER_PRODUCT, LEAST, LENGTH, LN, LOWER, MAX, MIN, MINUTE, MOD, MONTH, NULLIF, POW, POWER, ROUND, SECOND, SIGN, SQRT, SUBSTR, SUBSTRING, SUM, TRIM, UPPER, YEAR, correlated.
-->     SELECT A.k FROM A, B WHERE ABSOLUTE(A.x - B.x) < 3 WINDOW 1 MINUTE
-->                                ^^^^^^^^^^^^^^^^^^

-- # a stream in a database
SELECT A.k FROM lake.A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 17: "lake.A" is not the name of a stream; FROM takes stream or stream alias
-->     SELECT A.k FROM lake.A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->                     ^^^^^^

-- # the stream of a window that is not there
SELECT T.Value FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW Temperature 1 MINUTE, H 1 MINUTE
--> line 1, column 88: there is no stream 'Temperature'; the query has: T, H.
-->     SELECT T.Value FROM Temperature T, Humidity H WHERE T.LocationId = H.LocationId WINDOW Temperature 1 MINUTE, H 1 MINUTE
-->                                                                                            ^^^^^^^^^^^^^^^^^^^^

-- # two columns of one name
SELECT A.x AS v, B.x AS v FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: the select list has 'v' more than once; give each its own name with AS
-->     SELECT A.x AS v, B.x AS v FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^^^

-- # the name that is taken
SELECT A.x AS result_time FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: the name 'result_time' is taken by the first column of every result; choose another
-->     SELECT A.x AS result_time FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^^^^^^^^^

-- # a field that is not there
SELECT t.trip.idd FROM Trips t, A WHERE t.trip.id = A.k WINDOW 1 MINUTE
--> line 1, column 8: column 't.trip' has no field 'idd'; it has: id, at. Did you mean 'id'?
-->     SELECT t.trip.idd FROM Trips t, A WHERE t.trip.id = A.k WINDOW 1 MINUTE
-->            ^^^^^^^^^^

-- # a field of what has none
SELECT A.k.id FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> line 1, column 8: column 'A.k' has no field 'id'; it is int64, not a structure
-->     SELECT A.k.id FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
-->            ^^^^^^
