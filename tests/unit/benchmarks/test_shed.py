"""Harvesting against dropping at equal CPU: at least the gains that the paper reports, and nothing wrong."""

import pytest

from benchmarks.settings import Settings
from benchmarks.shed import CASES, run


@pytest.mark.slow
def test_harvesting_gains_at_least_what_the_paper_reports() -> None:
    report = run(Settings())
    assert report.valid
    for case in CASES:
        assert report.fields[case.name]["gain"] >= case.gain, case.name
