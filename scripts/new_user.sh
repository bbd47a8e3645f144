#!/usr/bin/env bash
# What a newcomer does, in a fresh clone and a fresh environment: clone, install, README, tutorial. Says how long each took.
#   scripts/new_user.sh [REPOSITORY]
set -euo pipefail

source="$(cd "${1:-$(dirname "$0")/..}" && pwd)"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
took() { printf '%-28s %4d s\n' "$1" "$((SECONDS - began))"; began=$SECONDS; }
began=$SECONDS

git clone --quiet "$source" "$place/dovetail"
cd "$place/dovetail"
took "git clone"
python3 -m venv "$place/env"
"$place/env/bin/pip" install --quiet --disable-pip-version-check .
took "pip install ."
cd "$place"  # so that the package is the installed one
"$place/env/bin/python" dovetail/scripts/run_pages.py dovetail/README.md
took "README (compiles kernels)"
"$place/env/bin/python" dovetail/scripts/run_pages.py dovetail/docs/tutorial.md
took "tutorial"
"$place/env/bin/dovetail" --version
"$place/env/bin/dovetail" explain dovetail/examples/pipelines/*.sql > /dev/null
took "dovetail explain"
