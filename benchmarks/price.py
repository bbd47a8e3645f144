"""Where the fixed price of a micro-batch goes: batches of 20,000 rows, files read and written by Dovetail.

    parts      of a batch by Spark's progress reports; the job, and its stages, by its event log
    python     what packers and operators report of themselves, and what tasks took of the cores in Java
    recalled   the shares of the buckets that found their engine in their worker, caught up, or loaded all
    sockets    the same through the network's sockets instead of the system's, sessions in turns

Medians over the second half of the batches of the last round.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.alone import alone
from benchmarks.checksum import Sum
from benchmarks.files import inputs
from benchmarks.peer_duckdb import OfflineJoin
from benchmarks.peer_spark import Pipeline, started
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.spark_runs import account, session_for
from benchmarks.workloads import Workload, equi
from dovetail.runtime.spark.metrics import spark_metrics

BATCH = 20_000
FILES = Pipeline("files")
SOCKETS = "spark.python.unix.domain.socket.enabled"
LOGGED = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}
PYTHON = ("load_us", "join_us", "save_us")


def run(settings: Settings) -> Report:
    """Two sessions of each kind, in turns."""
    workload = equi(settings.size(settings.choose(40, 6) * BATCH // 2, 6 * BATCH // 2), "UTC")
    expected = OfflineJoin(workload).sum()
    found: dict[str, list[dict[str, Any]]] = {"true": [], "false": []}
    with inputs(workload, BATCH) as folder:
        for sockets in ("true", "false") * settings.choose(2, 1):
            print(f"{workload.name}: {SOCKETS}={sockets} ...", file=sys.stderr, flush=True)
            found[sockets].append(alone(_measured, workload.bare(), folder, sockets, settings.choose(4, 1)))
    equal = all(each["sum"] == expected for runs in found.values() for each in runs)
    fields: dict[str, Any] = {"rows": workload.rows, "results": expected.rows, "results_equal": equal}
    fields["sessions"] = {kind: [each["batch_s"] for each in runs] for kind, runs in found.items()}
    fields["batch_s"], fields["network_batch_s"] = (min(spent) for spent in fields["sessions"].values())
    fields["vs_network"] = round(fields["network_batch_s"] / fields["batch_s"], 3)
    best = min(found["true"], key=lambda each: float(each["batch_s"]))
    fields |= {name: best[name] for name in ("parts_s", "python_s", "recalled")}
    lines = [*fields["parts_s"].items(), *((f"Python: {name}", spent) for name, spent in fields["python_s"].items())]
    return Report(f"A batch of {BATCH:,} rows: {best['batch_s']} s", ("of which", "seconds"), lines, fields)


def _measured(workload: Workload, folder: Path, sockets: str, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as log:
        more = {**LOGGED, "spark.eventLog.dir": f"file://{log}", SOCKETS: sockets}
        with session_for(FILES, **more) as session:
            for _ in range(rounds + 1):
                query, total = _once(session, workload, folder)
            progress = [each for each in query.recentProgress if each.numInputRows]
            told, identity = spark_metrics(query), str(query.id)
        (file,) = Path(log).iterdir()  # whole once the session has ended
        jobs = jobs_of((json.loads(line) for line in file.read_text().splitlines()), identity)
    steady = progress[len(progress) // 2 :]
    numbers = {each.batchId for each in steady}
    told = [batch for batch in told if batch["batch"] in numbers]
    recalled = Counter(bucket["recalled"] for batch in told for bucket in batch["buckets"])
    return {
        "sum": total,
        "batch_s": _median(each.durationMs["triggerExecution"] / 1000 for each in steady),
        "parts_s": _parts([each.durationMs for each in steady], [jobs[number] for number in sorted(numbers)]),
        "python_s": _python(told),
        "recalled": {name: round(count / recalled.total(), 3) for name, count in recalled.items()},
    }


def _once(session: Any, workload: Workload, folder: Path) -> tuple[Any, Sum]:
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as checkpoint:
        query = started(FILES, session, workload, folder, Path(checkpoint), availableNow=True)
        query.awaitTermination()
        return query, account(query, FILES, workload, Path(checkpoint)).sum


def _parts(durations: list[Mapping[str, int]], jobs: list[Mapping[str, float]]) -> dict[str, float]:
    names = sorted({name for each in durations for name in each} - {"triggerExecution"})
    parts = {name: _median(each.get(name, 0) / 1000 for each in durations) for name in names}
    inner = {
        name: _median(job.get(name, 0.0) for job in jobs) for name in sorted({name for job in jobs for name in job})
    }
    return parts | {f"addBatch: {name}": spent for name, spent in inner.items()}


def _python(told: list[dict[str, Any]]) -> dict[str, float]:
    packing = _median(sum(stream["pack_us"] for stream in batch["streams"].values()) / 1e6 for batch in told)
    return {"pack": packing} | {name[:-3]: _median(batch[name] / 1e6 for batch in told) for name in PYTHON}


def _median(values: Iterable[float]) -> float:
    return round(median(values), 4)


def jobs_of(events: Iterable[Mapping[str, Any]], query: str) -> dict[int, dict[str, float]]:
    """Of each batch of a query, in seconds: its jobs, their stages one by one, and CPU time of Java in tasks."""
    batch_of_stage: dict[int, int] = {}
    batch_of_job: dict[int, tuple[int, int]] = {}
    found: dict[int, dict[str, float]] = {}
    for event in events:
        kind = event["Event"]
        if kind == "SparkListenerJobStart" and event["Properties"].get("sql.streaming.queryId") == query:
            batch = int(event["Properties"]["streaming.sql.batchId"])
            batch_of_job[event["Job ID"]] = batch, event["Submission Time"]
            batch_of_stage |= dict.fromkeys(event["Stage IDs"], batch)
        elif kind == "SparkListenerJobEnd" and event["Job ID"] in batch_of_job:
            batch, began = batch_of_job[event["Job ID"]]
            _add(found, batch, "job", (event["Completion Time"] - began) / 1000)
        elif kind == "SparkListenerStageCompleted" and event["Stage Info"]["Stage ID"] in batch_of_stage:
            stage, own = event["Stage Info"], batch_of_stage[event["Stage Info"]["Stage ID"]]
            place = sum(name.startswith("stage") for name in found.get(own, {}))
            _add(found, own, f"stage {place}", (stage["Completion Time"] - stage["Submission Time"]) / 1000)
        elif kind == "SparkListenerTaskEnd" and event["Stage ID"] in batch_of_stage:
            spent = event["Task Metrics"]["Executor CPU Time"] / 1e9
            _add(found, batch_of_stage[event["Stage ID"]], "CPU of Java in tasks", spent)
    return found


def _add(found: dict[int, dict[str, float]], batch: int, name: str, seconds: float) -> None:
    own = found.setdefault(batch, {})
    own[name] = own.get(name, 0.0) + seconds
