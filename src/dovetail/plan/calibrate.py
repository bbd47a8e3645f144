"""This machine's weights: fitted to runs of the real engine, kept in a file, taken from there ever after.

Every run gives one equation: its work (see ``cost``), times the weights, is the time it took. ``fit`` solves them all
together for weights that are not negative, counting relative errors, and stays near the typical value wherever the
runs say little about a weight. The file is ``weights.json`` in the cache folder (``$DOVETAIL_CACHE``, or ``dovetail``
in the user's own) and holds one entry per machine, because a home directory may be shared by several.
"""

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from dovetail.plan.cost import TYPICAL, Weights

_SWEEPS = 1000  # of the fit, one weight after the other; it is made once per machine
_PULL = 0.1  # how strongly a weight is held to its typical value, against one run's relative error of 1
FORMAT = 2  # of the file; others are measured again


@dataclass(frozen=True)
class Measured:
    """One run: how often each kind of work was done, and the seconds all of it took."""

    work: Mapping[str, float]
    seconds: float


def fit(runs: Sequence[Measured]) -> Weights:
    """The weights that explain the runs best."""
    terms = list(TYPICAL)
    typical = np.array([TYPICAL[term] for term in terms])
    shares = np.array([[run.work.get(term, 0.0) / run.seconds for term in terms] for run in runs]) * typical
    factors = np.ones(len(terms))
    left = 1.0 - shares @ factors
    sizes = (shares**2).sum(axis=0) + _PULL
    for _ in range(_SWEEPS):
        for at in range(len(terms)):
            better = max(0.02, factors[at] + (shares[:, at] @ left + _PULL * (1.0 - factors[at])) / sizes[at])
            left -= shares[:, at] * (better - factors[at])
            factors[at] = better
    seconds = dict(zip(terms, (typical * factors).tolist(), strict=True))
    return Weights(seconds, f"measured on this machine, {platform.node() or 'unnamed'}")


def machine_identity() -> str:
    """Equal for runs on the same machine and interpreter, as far as can be told without asking for more."""
    parts = (platform.node(), platform.machine(), _processor(), os.cpu_count(), sys.version_info[:2], np.__version__)
    return sha256(repr(parts).encode()).hexdigest()[:16]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), "") or platform.processor()


def cache_folder() -> Path:
    """Where measured weights are kept."""
    own = os.environ.get("DOVETAIL_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dovetail"


def save_weights(weights: Weights) -> Path:
    """Keep the weights of this machine; returns the file."""
    path = cache_folder() / "weights.json"
    entries = _entries(path) | {machine_identity(): {"seconds": dict(weights.seconds), "origin": weights.origin}}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"weights.{os.getpid()}.json")
    draft.write_text(json.dumps({"format": FORMAT, "machines": entries}, indent=1))
    draft.replace(path)
    load_weights.cache_clear()
    return path


@lru_cache(maxsize=1)
def load_weights() -> Weights:
    """This machine's weights if they were measured, else typical ones."""
    entry = _entries(cache_folder() / "weights.json").get(machine_identity())
    seconds = entry.get("seconds") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(seconds, dict) or not _complete(seconds):
        return Weights()
    return Weights({term: float(value) for term, value in seconds.items()}, str(entry.get("origin")))


def _complete(seconds: dict[str, object]) -> bool:
    """Whether there is a time for every kind of work that the model knows now."""
    return seconds.keys() == TYPICAL.keys() and all(isinstance(v, int | float) and v > 0 for v in seconds.values())


def _entries(path: Path) -> dict[str, object]:
    """What the file holds; a file that is damaged or of another format counts as none."""
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    usable = isinstance(kept, dict) and kept.get("format") == FORMAT and isinstance(kept.get("machines"), dict)
    return dict(kept["machines"]) if usable else {}
