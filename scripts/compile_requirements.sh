#!/usr/bin/env bash
# Compiles requirements/*.txt: every version and hash, no address of any package host.
set -euo pipefail
cd "$(dirname "$0")/.."

compile="${COMPILE_WITH:-.venv/bin/pip-compile}"
export CUSTOM_COMPILE_COMMAND="make requirements"
options=(--quiet --generate-hashes --strip-extras --allow-unsafe
  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options)

"$compile" "${options[@]}" --extra spark --extra kafka --extra dashboard --extra metrics --extra papers --extra bench -o requirements/dev.txt pyproject.toml requirements/build.in requirements/dev.in
"$compile" "${options[@]}" --extra spark -c requirements/dev.txt -o requirements/demo.txt pyproject.toml requirements/build.in

if grep -En '://|--(extra-)?index-url|--trusted-host|--find-links' requirements/*.txt; then
  echo "requirements/*.txt name a package host; they must not." >&2
  exit 1
fi
