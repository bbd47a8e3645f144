"""The load on the live page, small: it runs, and nothing that was reported is missing on the page."""

from benchmarks import page
from benchmarks.settings import Settings


def test_every_report_arrives() -> None:
    report = page.run(Settings(rows=60_000))
    assert report.valid
    assert report.fields["lost"] == report.fields["missed"] == 0
    assert report.fields["reports"] >= 2
    assert report.fields["results"] >= 60_000
