#!/usr/bin/env bash
# A release: scripts/release.sh [VERSION]
#   1. with VERSION: sets it, dates its heading in CHANGELOG.md, commits and tags (nothing is pushed)
#   2. builds wheel and sdist, checks both with twine
#   3. installs the wheel into an empty environment and runs the README there
# What is uploaded, and where to, is up to whoever runs it: twine upload dist/*.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
  [[ "$1" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "VERSION is three numbers such as 0.2.0, got '$1'" >&2; exit 1; }
  [ -z "$(git status --porcelain)" ] || { echo "There are uncommitted changes: commit them first." >&2; exit 1; }
  grep -q "^## $1" CHANGELOG.md || { echo "CHANGELOG.md has no heading '## $1': write down what changed first." >&2; exit 1; }
  sed -i "s/^__version__ = .*/__version__ = \"$1\"/" src/dovetail/__init__.py
  sed -i "s/^## $1.*/## $1, $(date +%Y-%m-%d)/" CHANGELOG.md
  git commit -qam "Release $1"
  git tag -a "v$1" -m "Dovetail $1"
fi

place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
rm -rf dist
python3 -m venv "$place/tools"
"$place/tools/bin/pip" install --quiet --disable-pip-version-check build twine
"$place/tools/bin/python" -m build --outdir dist .
"$place/tools/bin/twine" check --strict dist/*

python3 -m venv "$place/env"
"$place/env/bin/pip" install --quiet --disable-pip-version-check dist/*.whl
cp README.md scripts/run_pages.py "$place"
cd "$place"
env/bin/python run_pages.py README.md
env/bin/dovetail --version
echo "dist/ is ready."
