-- # no comparison of times
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId
--> line 1, column 45: ASOF JOIN needs MATCH_CONDITION (T.ts >= H.ts), or the same in ON
-->     SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId
-->                                                 ^^^^^^^^^^

-- # two best directions
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts AND T.ts <= H.ts
--> line 1, column 45: ASOF JOIN takes the best row in one direction, T.ts >= H.ts or T.ts <= H.ts, and here are both
-->     SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts AND T.ts <= H.ts
-->                                                 ^^^^^^^^^^

-- # a range on both sides
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.ts BETWEEN H.ts - INTERVAL '5' SECOND AND H.ts + INTERVAL '5' SECOND
--> line 1, column 45: ASOF JOIN takes the best row in one direction, and this range lies on both sides of T.ts; leave out one of its ends, or take a stream with asof=dovetail.asof('nearest', tolerance=...)
-->     SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.ts BETWEEN H.ts - INTERVAL '5' SECOND AND H.ts + INTERVAL '5' SECOND
-->                                                 ^^^^^^^^^^

-- # a range that ends before it begins
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.ts >= H.ts + INTERVAL '5' SECOND AND T.ts < H.ts + INTERVAL '3' SECOND
--> line 1, column 45: ASOF JOIN: no time is in this range; nothing can match
-->     SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.ts >= H.ts + INTERVAL '5' SECOND AND T.ts < H.ts + INTERVAL '3' SECOND
-->                                                 ^^^^^^^^^^

-- # a range without a time
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.ts >= H.ts AND T.ts < H.ts
--> line 1, column 45: ASOF JOIN takes the best row in one direction, T.ts >= H.ts or T.ts <= H.ts, and here are both
-->     SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.ts >= H.ts AND T.ts < H.ts
-->                                                 ^^^^^^^^^^

-- # a condition on a row that was chosen
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts WHERE H.value > 3
--> line 1, column 110: WHERE after ASOF JOIN takes conditions on 'T' alone: one on a row that was chosen would leave out the result. Put it into ON, where it says which rows can be chosen
-->     SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts WHERE H.value > 3
-->                                                                                                                  ^^^^^^^^^^^

-- # WHERE after a left one
SELECT T.value FROM Temperature T ASOF LEFT JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts WHERE T.value > 3
--> line 1, column 115: WHERE after ASOF LEFT JOIN would apply to its result, which is not available: put the condition into ON (a row to be kept that fails it there comes out without a partner)
-->     SELECT T.value FROM Temperature T ASOF LEFT JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts WHERE T.value > 3
-->                                                                                                                       ^^^^^^^^^^^

-- # a window
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts WINDOW 5 SECONDS
--> line 1, column 111: an as-of join has no WINDOW: say how far away a row may be, as in T.ts <= Q.ts + INTERVAL '5' SECOND
-->     SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts WINDOW 5 SECONDS
-->                                                                                                                   ^^^^^^^^^

-- # the other way round
SELECT T.value FROM Temperature T ASOF RIGHT JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts
--> line 1, column 51: ASOF RIGHT JOIN is not available; there are ASOF JOIN and ASOF LEFT JOIN
-->     SELECT T.value FROM Temperature T ASOF RIGHT JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts
-->                                                       ^^^^^^^^^^

-- # a condition that makes an older row the best
SELECT T.value FROM Temperature T ASOF JOIN Humidity H ON T.LocationId = H.LocationId AND T.ts >= H.ts AND T.value > H.value
--> condition '0.0 < T.Value - H.Value' makes an older row of 'H' the best, so all of them would have to be kept for ever; limit them with asof(tolerance=...)
