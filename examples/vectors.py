"""Similar vectors: pairs of documents from two feeds whose embeddings point nearly the same way."""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 9)
VECTOR = pa.list_(pa.float64(), 3)


def feed(titles: list[str], vectors: list[list[float]]) -> pa.Table:
    times = [START + timedelta(minutes=minute) for minute in range(len(titles))]
    return pa.table({"ts": times, "title": titles, "v": pa.array(vectors, VECTOR)})


news = dv.stream("N", feed(["storm", "match"], [[0.9, 0.1, 0.0], [0.0, 0.2, 0.9]]), time="ts")
posts = dv.stream("P", feed(["rain!", "goal!"], [[1.0, 0.2, 0.1], [0.1, 0.1, 1.0]]), time="ts")
related = dv.join(
    news,
    posts,
    on="COSINE_SIMILARITY(N.v, P.v) >= 0.95",
    select="N.title AS news, P.title AS post",
    window="1 hour",
)
for row in related.collect().to_pylist():
    print(row["news"], row["post"])

# Prints:
# storm rain!
# match goal!
