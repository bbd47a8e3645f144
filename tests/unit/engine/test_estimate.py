"""The account of results missed: what is not known is not complete."""

import pytest

from dovetail.engine.policies.shed.estimate import Estimate


@pytest.mark.parametrize(
    ("known", "band"),
    [
        ({"produced": 10, "possible": 1000.0}, (1.0, 1.0)),
        ({"produced": 0, "left_out": 5.0, "possible": 1000.0}, (0.0, 1.0)),
        ({"produced": 10, "left_out": 5.0, "possible": 1000.0}, (0.01, 1.0)),
        ({"produced": 10, "left_out": 5.0, "unit": 4.0, "possible": 1000.0}, (10 / 22, 1.0)),
        ({"produced": 10, "left_out": 5.0, "missed": 10.0, "possible": 1000.0}, (0.5, 0.5)),
    ],
    ids=["nothing left out", "no result", "no result that tells of others", "a sampled one", "others let in in part"],
)
def test_the_band(known: dict[str, float], band: tuple[float, float]) -> None:
    assert Estimate(**known).completeness_between == pytest.approx(band)  # type: ignore[arg-type]
