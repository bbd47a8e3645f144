-- # commas
SELECT A.x FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> x int64 = A.x

-- # JOIN and ON
SELECT A.x FROM A JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> x int64 = A.x

-- # INNER JOIN, ON and WHERE together
SELECT A.x FROM A INNER JOIN B ON A.k = B.k WHERE A.y > B.y AND B.ok WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> band 0.0 < A.y - B.y
--> only B if B.ok
--> x int64 = A.x

-- # JOIN whose condition is in WHERE
SELECT A.x FROM A JOIN B WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> x int64 = A.x

-- # several JOINs
SELECT A.x FROM A JOIN B ON A.k = B.k JOIN C ON B.k = C.k AND C.ok WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> C: window 1 minute
--> equality A.k = B.k
--> equality B.k = C.k
--> only C if C.ok
--> x int64 = A.x

-- # commas and JOIN mixed
SELECT A.x FROM A, B JOIN C ON B.k = C.k WHERE A.k = B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> C: window 1 minute
--> equality B.k = C.k
--> equality A.k = B.k
--> x int64 = A.x

-- # LEFT JOIN
SELECT A.k, B.x FROM A LEFT JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> left
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k
--> x int64 = B.x

-- # LEFT OUTER JOIN with a condition on one side
SELECT A.k, B.x FROM A LEFT OUTER JOIN B ON A.k = B.k AND A.y > 0 WINDOW 1 MINUTE
--> left
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> only A if gt(A.y, 0.0)
--> k int64 = A.k
--> x int64 = B.x

-- # RIGHT JOIN
SELECT A.k, B.x FROM A RIGHT JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> right
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k
--> x int64 = B.x

-- # FULL OUTER JOIN
SELECT A.k, B.x FROM A FULL OUTER JOIN B ON A.k = B.k WINDOW A 1 MINUTE, B 2 MINUTES
--> full
--> A: window 1 minute
--> B: window 2 minutes
--> equality A.k = B.k
--> k int64 = A.k
--> x int64 = B.x

-- # RIGHT JOIN and FULL JOIN after another
SELECT A.k, C.x FROM A LEFT JOIN B ON A.k = B.k RIGHT JOIN C ON B.k = C.k FULL OUTER JOIN C AS D ON C.k = D.k WINDOW 1 MINUTE
--> left, right, full
--> A: window 1 minute
--> B: window 1 minute
--> C: window 1 minute
--> D: window 1 minute
--> equality A.k = B.k
--> equality B.k = C.k
--> equality C.k = D.k
--> k int64 = A.k
--> x int64 = C.x

-- # FULL JOIN by an interval: a row of C may be there without one of A
SELECT A.k FROM A JOIN B ON A.k = B.k AND B.ts BETWEEN A.ts AND A.ts + INTERVAL '1' MINUTE FULL JOIN C ON A.k = C.k AND C.ts BETWEEN A.ts AND A.ts + INTERVAL '5' MINUTE
--> inner, full
--> A: window 5 minutes
--> B: window 5 minutes
--> C: window 1 minute
--> equality A.k = B.k
--> band -60000000 <= epoch_us(A.ts) - epoch_us(B.ts) <= 0
--> equality A.k = C.k
--> band -300000000 <= epoch_us(A.ts) - epoch_us(C.ts) <= 0
--> k int64 = A.k

-- # LEFT SEMI JOIN
SELECT A.k FROM A LEFT SEMI JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> semi
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k

-- # LEFT SEMI JOIN and WHERE on the side that is left
SELECT A.k FROM A LEFT SEMI JOIN B ON A.k = B.k WHERE A.ok WINDOW 1 MINUTE
--> semi
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> only A if A.ok
--> k int64 = A.k

-- # LEFT ANTI JOIN, all columns of the side that is left
SELECT * FROM CNN LEFT ANTI JOIN BBC ON CNN.title = BBC.title WINDOW 1 MINUTE
--> anti
--> CNN: window 1 minute
--> BBC: window 1 minute
--> equality CNN.title = BBC.title
--> title string = CNN.title
--> words list<item: float> = CNN.words
--> ts timestamp[us] = CNN.ts

-- # SEMI JOIN is LEFT SEMI JOIN
SELECT k FROM A SEMI JOIN B ON A.k = B.k WINDOW 1 MINUTE
--> semi
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k

-- # every combination, by CROSS JOIN
SELECT A.k, B.x FROM A CROSS JOIN B WINDOW 1 SECOND
--> inner
--> A: window 1 second
--> B: window 1 second
--> k int64 = A.k
--> x int64 = B.x

-- # every combination of those that pass, by CROSS JOIN
SELECT A.k, B.x FROM A CROSS JOIN B WHERE A.ok WINDOW 1 SECOND
--> inner
--> A: window 1 second
--> B: window 1 second
--> only A if A.ok
--> k int64 = A.k
--> x int64 = B.x

-- # every combination, by WHERE TRUE
SELECT A.k, B.x FROM A, B WHERE TRUE WINDOW 1 SECOND
--> inner
--> A: window 1 second
--> B: window 1 second
--> k int64 = A.k
--> x int64 = B.x

-- # a stream with itself
SELECT early.x AS before, late.x AS after FROM A early, A late
WHERE early.k = late.k AND early.ts < late.ts WINDOW 1 MINUTE
--> inner
--> early: window 1 minute
--> late: window 1 minute
--> equality early.k = late.k
--> band epoch_us(early.ts) - epoch_us(late.ts) < 0
--> before int64 = early.x
--> after int64 = late.x
