-- # several equalities
SELECT A.k FROM A, B WHERE A.k = B.k AND A.s = B.s WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> equality A.s = B.s
--> k int64 = A.k

-- # an equality of expressions
SELECT A.k FROM A, B WHERE LOWER(A.s) = B.s || 'x' WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality lower(A.s) = concat(B.s, 'x')
--> k int64 = A.k

-- # types that meet in a wider one
SELECT A.k FROM A, B WHERE A.k = B."odd name" WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = cast(B.odd name as int64)
--> k int64 = A.k

-- # a band by ABS
SELECT A.k FROM A, B WHERE ABS(A.x - B.x) <= 5 WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> band -5 <= A.x - B.x <= 5
--> k int64 = A.k

-- # a band by BETWEEN
SELECT A.k FROM A, B WHERE A.x BETWEEN B.x - 5 AND B.x + 10 WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> band -5 <= A.x - B.x <= 10
--> k int64 = A.k

-- # a comparison
SELECT A.k FROM A, B WHERE A.y < B.y WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> band A.y - B.y < 0.0
--> k int64 = A.k

-- # times apart
SELECT A.k FROM A, B WHERE A.k = B.k AND B.ts - A.ts BETWEEN INTERVAL '1' SECOND AND INTERVAL '5' SECOND WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> band -5000000 <= epoch_us(A.ts) - epoch_us(B.ts) <= -1000000
--> k int64 = A.k

-- # cosine
SELECT CNN.title FROM CNN, BBC WHERE COSINE_SIMILARITY(CNN.words, BBC.words) > 0.9 WINDOW 1 HOUR
--> inner
--> CNN: window 1 hour
--> BBC: window 1 hour
--> similarity cosine_similarity(cast(CNN.words as list<item: double>), cast(BBC.words as list<item: double>)) > 0.9
--> title string = CNN.title

-- # not equal
SELECT A.k FROM A, B WHERE A.k <> B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> residual ne(A.k, B.k)
--> k int64 = A.k

-- # or
SELECT A.k FROM A, B WHERE A.k = B.k OR A.s = B.s WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> alternatives or(eq(A.k, B.k), eq(A.s, B.s))
--> k int64 = A.k

-- # a condition of three streams
SELECT A.k FROM A, B, C WHERE A.x + B.x > C.x WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> C: window 1 minute
--> residual gt(add(A.x, B.x), C.x)
--> k int64 = A.k

-- # conditions of one stream each
SELECT A.k FROM A, B WHERE A.k = B.k AND A.s LIKE 'x%' AND B.x IN (1, 2, 3) AND A.d >= '2026-01-01' WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> only A if like(A.s, 'x%')
--> only B if in(B.x, 1, 2, 3)
--> only A if ge(A.d, datetime.date(2026, 1, 1))
--> k int64 = A.k

-- # NOT moved inwards
SELECT A.k FROM A, B WHERE NOT (A.k <> B.k OR A.x > 3) WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> only A if le(A.x, 3)
--> k int64 = A.k

-- # equal or both NULL
SELECT A.k FROM A, B WHERE A.k IS NOT DISTINCT FROM B.k WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality is_null(A.k) = is_null(B.k)
--> equality coalesce(A.k, 0) = coalesce(B.k, 0)
--> k int64 = A.k

-- # NULL and CASE
SELECT A.k FROM A, B WHERE A.k = B.k AND A.s IS NULL AND CASE WHEN B.ok THEN 1 ELSE 0 END = 1 WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> only A if is_null(A.s)
--> only B if eq(case(B.ok, 1, 0), 1)
--> k int64 = A.k

-- # columns that only one stream has need no stream
SELECT Value FROM Temperature T, CNN WHERE LocationId > 3 AND title = CAST(Value AS STRING) WINDOW 1 MINUTE
--> inner
--> T: window 1 minute
--> CNN: window 1 minute
--> equality CNN.title = cast(T.Value as string)
--> only T if gt(T.LocationId, 3)
--> Value double = T.Value

-- # comments between the words
SELECT A.k -- the key
FROM A, /* and */ B
WHERE A.k = B.k -- WINDOW 5 MINUTES
WINDOW 1 MINUTE -- ;
;
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> k int64 = A.k

-- # IS binds less than a comparison
SELECT A.k FROM A, B WHERE A.k = B.k AND A.s <> B.s IS NOT NULL WINDOW 1 MINUTE
--> inner
--> A: window 1 minute
--> B: window 1 minute
--> equality A.k = B.k
--> residual not(is_null(ne(A.s, B.s)))
--> k int64 = A.k
