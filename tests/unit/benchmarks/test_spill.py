import pytest

from benchmarks.settings import Settings
from benchmarks.spill import run


@pytest.mark.slow
def test_coordinated_flushing_is_never_behind_random_and_all_plans_give_the_same_rows() -> None:
    report = run(Settings(rows=1000))
    assert report.valid
    assert report.fields["coordinated_never_behind_random"]
    assert report.fields["results"] == 1000 * 1000
    coordinated, random = (report.fields["at_every_tenth"][plan] for plan in ("coordinated", "random"))
    assert coordinated[-1] > random[-1] > 0
