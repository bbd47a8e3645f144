"""The site builds from the docs, no link leads nowhere, and a link that does is noticed."""

from pathlib import Path

import pytest

from scripts import build_site


def test_the_site_builds_without_a_broken_link(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_site.main()
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    pages = list(build_site.SITE.rglob("index.html"))
    assert len(pages) > 40
    assert any('id="__tabbed_1' in page.read_text() for page in pages), "tabs for Python and SQL"


@pytest.mark.parametrize("link", ["gone/", "other.html#nowhere", "missing.svg"])
def test_a_broken_link_is_noticed(tmp_path: Path, link: str) -> None:
    (tmp_path / "other.html").write_text('<h1 id="here">')
    (tmp_path / "index.html").write_text(f'<a href="other.html#here"></a><a href="{link}"></a>')
    (found,) = build_site.broken_links(tmp_path)
    assert found.startswith(f"index.html: {link}")
