"""Peers that are not Dovetail's dependencies live in environments of their own, made once and kept in the cache folder.

    ~/.cache/dovetail/peers/apache-flink-2.3.0/     a venv with that one package

What cannot be installed is absent, with the reason; that is a finding, not a crash.
"""

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JOBS = Path(__file__).parent / "jobs"
LONGEST_S = 3600


class AbsentError(Exception):
    """A peer that cannot take part, and why."""


@dataclass(frozen=True)
class Environment:
    """One package of one version."""

    package: str
    version: str

    @property
    def folder(self) -> Path:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cache / "dovetail" / "peers" / f"{self.package}-{self.version}"

    def python(self) -> Path:
        """Its interpreter, after installing it if need be."""
        found, whole = self.folder / "bin" / "python", self.folder / "installed"
        if not whole.exists():
            print(f"installing {self.package} {self.version} into an environment of its own ...", file=sys.stderr)
            venv.create(self.folder, with_pip=True, clear=True)
            _run([str(found), "-m", "pip", "install", "--quiet", f"{self.package}=={self.version}"])
            whole.touch()
        return found

    def run(self, job: str, task: dict[str, Any]) -> dict[str, Any]:
        """A script of ``jobs`` with a task, in this environment; it answers with one line of JSON."""
        printed = _run([str(self.python()), str(JOBS / job), json.dumps(task)])
        answer: dict[str, Any] = json.loads(printed.splitlines()[-1])
        return answer


def _run(command: list[str]) -> str:
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}  # nothing of this environment reaches the other
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AbsentError(str(error)) from error
    if done.returncode:
        raise AbsentError(_last_line(done.stderr or done.stdout))
    return done.stdout


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]  # Java's last word is how much it left out
    return ([*lines, *causes] or ["it ended without a word"])[-1][:300]
