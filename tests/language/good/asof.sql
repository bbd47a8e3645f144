-- # the last row before, as DuckDB writes it
SELECT T.value, H.value FROM Temperature T ASOF LEFT JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts
--> left
--> T: window None
--> H: as of, backward, left
--> equality T.LocationId = H.LocationId
--> T_Value double = T.Value
--> H_Value double = H.Value

-- # as Snowflake and Spark write it
SELECT T.value, H.value FROM Temperature T ASOF JOIN Humidity H MATCH_CONDITION (T.ts > H.ts) ON T.LocationId = H.LocationId
--> inner
--> T: window None
--> H: as of, backward, not at the same time, inner
--> equality T.LocationId = H.LocationId
--> T_Value double = T.Value
--> H_Value double = H.Value

-- # the first row after, with a tolerance, without a key
SELECT T.value, H.value FROM Temperature T ASOF JOIN Humidity H ON T.ts <= H.ts AND H.ts < T.ts + INTERVAL '5' SECOND
--> inner
--> T: window None
--> H: as of, forward within 4999999 microseconds, inner
--> T_Value double = T.Value
--> H_Value double = H.Value

-- # which rows can be chosen, and which rows are answered
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.ts - H.ts BETWEEN INTERVAL '0' SECOND AND INTERVAL '1' MINUTE AND T.value < H.value AND H.value > 2 WHERE T.value > 40
--> inner
--> T: window None
--> H: as of, backward within 1 minute, inner
--> band T.Value - H.Value < 0.0
--> only H if gt(H.Value, 2.0)
--> only T if gt(T.Value, 40.0)
--> Value double = T.Value

-- # the last row at least five seconds before, as Snowflake and Spark write it
SELECT T.value FROM Temperature T ASOF JOIN Humidity H MATCH_CONDITION (T.ts >= H.ts + INTERVAL '5' SECOND) ON T.LocationId = H.LocationId
--> inner
--> T: window None
--> H: as of, backward of 5 seconds before it, inner
--> equality T.LocationId = H.LocationId
--> Value double = T.Value

-- # the first row more than five and at most nine seconds after, as DuckDB writes it
SELECT T.value FROM Temperature T ASOF LEFT JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts + INTERVAL '5' SECOND < H.ts AND H.ts <= T.ts + INTERVAL '9' SECOND
--> left
--> T: window None
--> H: as of, forward within 4 seconds of 5 seconds after it, not at the same time, left
--> equality T.LocationId = H.LocationId
--> Value double = T.Value

-- # two in one text, each spelled its own way
SELECT A.k, B.x AS last, C.x AS next FROM A ASOF LEFT JOIN B MATCH_CONDITION (A.ts >= B.ts) ON A.k = B.k ASOF JOIN C ON A.s = C.s AND A.ts < C.ts AND C.ts <= A.ts + INTERVAL '5' SECOND
--> left
--> A: window None
--> B: as of, backward, left
--> C: as of, forward within 5 seconds, not at the same time, inner
--> equality A.k = B.k
--> equality A.s = C.s
--> k int64 = A.k
--> last int64 = B.x
--> next int64 = C.x
