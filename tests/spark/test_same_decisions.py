"""The same batches and the same clock lead to the same decisions, embedded and in the operator on Spark."""

import json
from typing import Any

import pytest

import dovetail as dv
from dovetail.control import controller
from dovetail.control.steered import Steered
from dovetail.engine.block.block import Block
from dovetail.engine.operator.engine import Engine
from dovetail.runtime.spark import operator
from dovetail.testing import Push
from tests.spark.feeding import random_batches
from tests.spark.test_operator import Cluster

ON = "A.k = B.k"


class Steady:
    """A stopwatch by which every tuple takes as long."""

    every = True

    def __init__(self, order: object = "none") -> None:
        pass

    def begin(self) -> None:
        pass

    def split(self) -> float:
        return 0.0

    def end(self, stream: str, block: Block) -> float:
        return 4e-6 * len(block)


class Counted:
    """A clock of CPU time that goes on by as much with every reading."""

    def __init__(self) -> None:
        self._readings = 0

    def __call__(self) -> float:
        self._readings += 1
        return self._readings * 1e-3


def batches(count: int) -> list[Push]:
    """Rows of many seconds, so that rates are known and plans are looked at."""
    return random_batches("AB", seed=5, batches=count, count=120)


def embedded(cluster: Cluster, pushes: list[Push]) -> list[Any]:
    steered, told = Steered(Engine(cluster.plan, Steady()), cluster.plan.query, Counted()), []
    for push in pushes:
        steered.controller.begin_batch()
        for _ in steered.push(push.batch):
            pass
        steered.controller.end_batch()
        told.append(_told(steered.changes().header))
    return told


def on_spark(cluster: Cluster, pushes: list[Push], restarts: bool) -> list[Any]:
    told = []
    for push in pushes:
        cluster.batch(push, worker=0)
        told.append(_told(cluster.header()))
        if restarts:
            cluster.forget_engines()
    return told


def _told(header: bytes) -> Any:
    sections = json.loads(header)["sections"]
    return sections["decision"], sections["control"]


ALPHAS = (1e-6, 2e-4)
ORDERS = [{}, *({"order": dv.adaptive(alpha)} for alpha in ALPHAS)]


@pytest.mark.parametrize("options", ORDERS, ids=["plan", "low", "high"])
def test_every_decision_is_the_same(options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator, "WallStopwatch", Steady)
    cluster = Cluster(ON, "AB", monkeypatch, **options)
    pushes = batches(14)
    expected = embedded(cluster, pushes)
    assert on_spark(cluster, pushes, restarts=False) == expected
    if "order" in options:
        assert "hold" in {decision["waits"] for decision, _ in expected}, "it has learned that waiting there pays"


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_adaptive_order_does_not_forget_when_workers_change(alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans are looked for anew by a new worker; what the order has learned of rates and costs is in the state."""
    monkeypatch.setattr(operator, "WallStopwatch", Steady)
    cluster = Cluster(ON, "AB", monkeypatch, order=dv.adaptive(alpha))
    pushes = batches(14)
    expected = embedded(cluster, pushes)
    found = on_spark(cluster, pushes, restarts=True)
    assert [decision["waits"] for decision, _ in found] == [decision["waits"] for decision, _ in expected]
    for (_, ours), (_, theirs) in zip(found, expected, strict=True):
        for name, learned in theirs["order"]["learned"].items():
            assert ours["order"]["learned"][name] == pytest.approx(learned), name


def test_a_cpu_budget_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator, "WallStopwatch", Steady)
    cluster = Cluster(ON, "AB", monkeypatch, budget=dv.budget(cpu=0.01))
    pushes = batches(6)
    expected = embedded(cluster, pushes)
    monkeypatch.setattr(controller, "cpu_time", Counted())
    assert [decision for decision, _ in on_spark(cluster, pushes, restarts=False)] == [each for each, _ in expected]
