#!/usr/bin/env bash
# Prints the home of a Java that Spark supports (17 or 21), installing one if that can be done without asking.
#   JAVA_HOME="$(scripts/ensure_java.sh)"
set -euo pipefail
cd /  # from a folder that has been removed no Java starts, and a new one would be installed

home_if_supported() {  # $1: a java binary; prints its home if its version will do
  local settings
  settings="$("$1" -XshowSettings:properties -version 2>&1)" || return 1
  grep -Eq '^ *java\.specification\.version = (17|21)$' <<<"$settings" || return 1
  sed -n 's/^ *java\.home = //p' <<<"$settings"
}

find_java() {
  local java
  for java in "${JAVA_HOME:-/none}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java \
    /opt/homebrew/opt/openjdk@{17,21}/bin/java /usr/local/opt/openjdk@{17,21}/bin/java; do
    if [ -x "$java" ] && home_if_supported "$java"; then return 0; fi
  done
  return 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

install_java() {
  if command -v apt-get >/dev/null && as_root true 2>/dev/null; then
    as_root apt-get update -qq
    as_root apt-get install -y -qq --no-upgrade --no-install-recommends openjdk-17-jre-headless ||
      as_root apt-get install -y -qq --no-upgrade --no-install-recommends openjdk-21-jre-headless
  elif command -v dnf >/dev/null && as_root true 2>/dev/null; then
    as_root dnf install -y -q java-21-openjdk-headless || as_root dnf install -y -q java-17-openjdk-headless
  elif command -v brew >/dev/null; then
    brew install --quiet openjdk@17
  else
    return 1
  fi
}

if find_java; then exit 0; fi
echo "No Java 17 or 21 found; trying to install one with the system's package manager." >&2
if install_java >&2 && find_java; then exit 0; fi
echo "Spark needs Java 17 or 21 and none could be installed here: install it, or set JAVA_HOME to it, and try again." >&2
exit 1
