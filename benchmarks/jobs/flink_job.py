"""Run by Flink's own Python: python flink_job.py TASK, where TASK is JSON; the answer is the last line."""

import json
import sys
import time

from pyflink.table import EnvironmentSettings, TableEnvironment


def main(task):
    """Refused unless Flink plans interval joins only; counted first, which also warms the JVM, then timed."""
    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, value in task["settings"].items():
        flink.get_config().set(name, value)
    for statement in [*task["tables"], task["sink"]]:
        flink.execute_sql(statement)
    plan = flink.explain_sql(task["join"]).split("== Optimized Execution Plan ==")[-1]
    if "IntervalJoin" not in plan or plan.count("Join(") > plan.count("IntervalJoin("):
        return {"refused": "Flink plans a join that is no interval join and keeps all rows for ever"}
    with flink.execute_sql(task["count"]).collect() as rows:
        *_, last = rows
    started = time.perf_counter()
    flink.execute_sql(f"INSERT INTO sink {task['join']}").wait()
    return {"seconds": time.perf_counter() - started, "rows": last[0], "total": last[1]}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
