"""Weights of this machine: fitted, kept in a file by machine, and never a reason to fail."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dovetail as dv
from dovetail.plan import calibrate
from dovetail.plan.calibrate import Measured, fit, load_weights, machine_identity, save_weights
from dovetail.plan.cost import TYPICAL, Weights
from dovetail.runtime import calibration
from dovetail.runtime.calibration import settings


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    load_weights.cache_clear()
    yield tmp_path
    load_weights.cache_clear()


def measured(seconds: dict[str, float]) -> Weights:
    return Weights({**TYPICAL, **seconds}, "measured")


def test_weights_are_found_again_from_runs_that_they_explain() -> None:
    random, terms = np.random.default_rng(3), list(TYPICAL)
    true = Weights({term: TYPICAL[term] * random.uniform(0.5, 2) for term in terms})
    works = [{term: random.random() / TYPICAL[term] for term in random.choice(terms, 6)} for _ in range(600)]
    found = fit([Measured(work, true.cost(work)) for work in works])
    for term in terms:
        assert found.seconds[term] == pytest.approx(true.seconds[term], rel=0.15), term


def test_what_the_runs_do_not_show_stays_typical() -> None:
    found = fit([Measured({"tuple": 1000.0}, 1000 * TYPICAL["tuple"] * 1.5)] * 50)
    assert found.seconds["tuple"] == pytest.approx(TYPICAL["tuple"] * 1.5, rel=0.05)
    assert found.seconds["hash_probe"] == TYPICAL["hash_probe"]


def test_kept_for_this_machine_and_found_again(own_cache: Path) -> None:
    assert load_weights() == Weights(), "nothing measured yet"
    assert save_weights(measured({"tuple": 1e-6})) == own_cache / "weights.json"
    assert load_weights().seconds["tuple"] == 1e-6
    assert load_weights() is load_weights(), "read once"


def test_a_folder_shared_by_machines_keeps_one_entry_each(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    save_weights(measured({"tuple": 1e-6}))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(calibrate, "machine_identity", lambda: "another")
        load_weights.cache_clear()
        assert load_weights() == Weights(), "not another machine's"
        save_weights(measured({"tuple": 2e-6}))
    load_weights.cache_clear()
    assert load_weights().seconds["tuple"] == 1e-6
    assert json.loads((own_cache / "weights.json").read_text())["machines"].keys() == {machine_identity(), "another"}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[1, 2]",
        '{"format": 99, "machines": {}}',
        '{"format": 2, "machines": 5}',
        '{"format": 2, "machines": {"THIS": 5}}',
        '{"format": 2, "machines": {"THIS": {"seconds": {"tuple": 1.0}, "origin": "an older version"}}}',
        '{"format": 2, "machines": {"THIS": {"seconds": "x", "origin": "no numbers"}}}',
        "\x00\xff",
    ],
)
def test_a_file_that_is_damaged_or_old_counts_as_none(own_cache: Path, content: str) -> None:
    path = own_cache / "weights.json"
    path.write_text(content.replace("THIS", machine_identity()))
    assert load_weights() == Weights()
    save_weights(measured({"tuple": 1e-6}))
    assert load_weights().seconds["tuple"] == 1e-6, "and is written anew"


def test_weights_that_are_no_times_count_as_none(own_cache: Path) -> None:
    for wrong in ("much", -1.0, None):
        entry = {"seconds": {**TYPICAL, "tuple": wrong}, "origin": "measured"}
        kept = {"format": calibrate.FORMAT, "machines": {machine_identity(): entry}}
        (own_cache / "weights.json").write_text(json.dumps(kept))
        load_weights.cache_clear()
        assert load_weights() == Weights()


def test_calibration_is_small() -> None:
    assert sum(tuples for _, _, tuples in settings()) < 1_000_000


def test_plans_use_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [each for each in settings() if each[0].window <= 100 and each[0].block >= 100]
    monkeypatch.setattr(calibration, "settings", lambda: iter(few))
    path = dv.calibrate()
    assert path.exists()
    assert load_weights().origin.startswith("measured on this machine")
    assert all(second > 0 for second in load_weights().seconds.values())
