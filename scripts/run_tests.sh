#!/usr/bin/env bash
# All tests, those that need Spark beside those that do not: either half alone leaves a core idle.
set -uo pipefail
# Sessions of tests are short: compiling Java for a long run takes more of the processor than it gives back.
export JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
left_out="not slow and not kafka and not cluster and not lakes"
with_spark=$(mktemp)
trap 'rm -f "$with_spark"' EXIT
.venv/bin/pytest -m "spark and $left_out" >"$with_spark" 2>&1 &
spark=$!
.venv/bin/pytest -m "not spark and $left_out"
without=$?
wait "$spark"
with=$?
cat "$with_spark"
exit $((without > with ? without : with))
