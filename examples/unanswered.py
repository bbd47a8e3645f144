"""A left join in order: questions with their answers, and questions that nobody answered within ten minutes."""

from datetime import datetime, timedelta

import pyarrow as pa

import dovetail as dv

START = datetime(2026, 7, 1, 9)


def posts(minutes: list[int], threads: list[int], texts: list[str]) -> pa.Table:
    return pa.table({"ts": [START + timedelta(minutes=m) for m in minutes], "thread": threads, "text": texts})


questions = dv.stream("Q", posts([0, 2, 4], [1, 2, 3], ["why?", "when?", "who?"]), time="ts", window="10 minutes")
answers = dv.stream("A", posts([3, 9, 15], [1, 3, 2], ["because", "me", "now"]), time="ts", window="0 seconds")

talk = dv.join(
    questions,
    answers,
    on="Q.thread = A.thread",
    select="Q.text AS question, A.text AS answer",
    how="left",
    order="hold",
)
for row in talk.collect().to_pylist():
    print(row["result_time"].time(), row["question"], row["answer"])

# Prints:
# 09:03:00 why? because
# 09:09:00 who? me
# 09:12:00 when? None
