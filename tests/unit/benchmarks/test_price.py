"""What is read out of Spark's event log, without running Spark."""

from typing import Any

from benchmarks.price import jobs_of


def events(query: str, batch: int, job: int, stages: list[tuple[int, int]]) -> list[dict[str, Any]]:
    properties = {"sql.streaming.queryId": query, "streaming.sql.batchId": str(batch)}
    numbers = [10 * job + place for place in range(len(stages))]
    told: list[dict[str, Any]] = [
        {
            "Event": "SparkListenerJobStart",
            "Job ID": job,
            "Submission Time": 1000,
            "Stage IDs": numbers,
            "Properties": properties,
        }
    ]
    for number, (began, ended) in zip(numbers, stages, strict=True):
        task = {"Event": "SparkListenerTaskEnd", "Stage ID": number, "Task Metrics": {"Executor CPU Time": 20_000_000}}
        stage = {"Stage ID": number, "Submission Time": began, "Completion Time": ended}
        told += [task, task, {"Event": "SparkListenerStageCompleted", "Stage Info": stage}]
    return [*told, {"Event": "SparkListenerJobEnd", "Job ID": job, "Completion Time": stages[-1][1] + 10}]


def test_jobs_and_stages_belong_to_their_batch() -> None:
    log = [
        {"Event": "SparkListenerApplicationStart"},
        *events("mine", 4, 1, [(1010, 1060), (1070, 1190)]),
        *events("other", 4, 2, [(1010, 9000)]),
        *events("mine", 5, 3, [(1000, 1090)]),
    ]
    assert jobs_of(log, "mine") == {
        4: {"CPU of Java in tasks": 0.08, "stage 0": 0.05, "stage 1": 0.12, "job": 0.2},
        5: {"CPU of Java in tasks": 0.04, "stage 0": 0.09, "job": 0.1},
    }
