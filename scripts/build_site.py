"""Builds the documentation site from docs/, README and examples: make site.

1. docs/ is copied to build/site-docs; the README becomes its first page; pages that the navigation does not name are
   added under "More", so that nothing is forgotten.
2. Links that leave docs/ go to pages made of the files that they name (examples become pages with their source).
3. Two Python blocks behind ``<!-- tabs -->``, one in Python and one that says the same in SQL, become two tabs.
4. Zensical builds build/site/<version>; versions.json beside it is what the version menu reads.
5. Every link and every picture of the built pages is looked up; one that leads nowhere ends the build.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import dovetail

ROOT = Path(__file__).parents[1]
PAGES, SITE = ROOT / "build" / "site-docs", ROOT / "build" / "site"
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
TABS = re.compile(r"<!-- tabs -->\n+```python\n(.*?)```\n+```python\n(.*?)```\n", re.DOTALL)
LANGUAGES = {".py": "python", ".sql": "sql", ".yml": "yaml", ".json": "json"}


def main() -> None:
    """Build the site of this version; exit 1 if a link is broken."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    shutil.copy(ROOT / "src/dovetail/dashboard/static/icon.svg", PAGES / "icon.svg")
    (PAGES / "index.md").write_text((ROOT / "README.md").read_text())
    for page in sorted(PAGES.rglob("*.md")):
        source = ROOT / "README.md" if page == PAGES / "index.md" else ROOT / "docs" / page.relative_to(PAGES)
        page.write_text(_tabbed(_linked(page.read_text(), source, page)))
    version = ".".join(dovetail.__version__.split(".")[:2])
    config = _config(version)
    subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "-f", str(config)], check=True, cwd=ROOT)
    (SITE / "versions.json").write_text(json.dumps(_versions(version)))
    (SITE / "index.html").write_text(f'<meta http-equiv="refresh" content="0; url={version}/">')
    broken = list(broken_links(SITE / version))
    print("\n".join(broken), file=sys.stderr)
    print(f"{len(list((SITE / version).rglob('*.html')))} pages in {SITE / version}, {len(broken)} broken links")
    sys.exit(bool(broken))


def _linked(text: str, source: Path, page: Path) -> str:
    """The page's text with links to other files of the project turned into links to pages made of them."""

    def link(found: re.Match[str]) -> str:
        target = found[2]
        if urlsplit(target).scheme:
            return found[0]
        path = (source.parent / target).resolve()
        docs = ROOT / "docs"
        inside = PAGES / path.relative_to(docs) if path.is_relative_to(docs) else _page_of(path)
        return f"{found[1]}{_relative(inside, page.parent)}{found[3] or ''}{found[4]}"

    return LINK.sub(link, text)


def _relative(path: Path, start: Path) -> str:
    return Path(*[".."] * len(start.relative_to(PAGES).parts), path.relative_to(PAGES)).as_posix()


def _page_of(path: Path) -> Path:
    """A page with the source of a file, or of all files of a folder."""
    name = path.relative_to(ROOT).as_posix()
    page = PAGES / "source" / f"{name.replace('/', '-').replace('.', '-')}.md"
    page.parent.mkdir(exist_ok=True)
    files = sorted(each for each in path.rglob("*") if each.suffix in LANGUAGES) if path.is_dir() else [path]
    parts = [f"# {name}\n"] + [_listing(each, alone=each == path) for each in files]
    page.write_text("\n".join(parts))
    return page


def _listing(path: Path, alone: bool) -> str:
    if path.suffix == ".md":
        return re.sub(r"\]\((?!https?:)[^)]*\)", "]", path.read_text())
    heading = "" if alone else f"## {path.name}\n\n"
    return f"{heading}````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text()}````\n"


def _tabbed(text: str) -> str:
    def tabs(found: re.Match[str]) -> str:
        python, sql = (_indented(f"```python\n{found[at]}```") for at in (1, 2))
        return f'=== "Python"\n\n{python}\n\n=== "SQL"\n\n{sql}\n'

    return TABS.sub(tabs, text)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))


def _config(version: str) -> Path:
    """mkdocs.yml for this version, with the pages that its navigation does not name."""
    text = (ROOT / "mkdocs.yml").read_text().replace("site_dir: build/site\n", f"site_dir: build/site/{version}\n")
    named = set(re.findall(r"- ([\w./-]+\.md)$", text, re.MULTILINE))
    found = {page.relative_to(PAGES).as_posix() for page in PAGES.rglob("*.md")}
    if named - found:
        sys.exit(f"mkdocs.yml names pages that are not there: {', '.join(sorted(named - found))}")
    if found - named:
        text += "  - More:\n" + "".join(f"      - {page}\n" for page in sorted(found - named))
    config = ROOT / "build" / "mkdocs.yml"
    config.write_text(text.replace("build/site", "site"))
    return config


def _versions(newest: str) -> list[dict[str, object]]:
    """All versions that were built into this folder, the newest first."""
    built = {path.parent.name for path in SITE.glob("*/index.html")} | {newest}
    order = sorted(built, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return [{"version": name, "title": name, "aliases": ["latest"] if name == order[0] else []} for name in order]


class _Page(HTMLParser):
    """The links of one page, and the places that links can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif value and ((tag, name) in (("a", "href"), ("img", "src"), ("script", "src"), ("link", "href"))):
                self.links.append(value)


def broken_links(site: Path) -> Iterator[str]:
    """Every link inside of the site that leads to no file, or to no place of one."""
    pages = {path: _Page(path.read_text()) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("/") or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{path.relative_to(site)}: {link}: no such place on that page"


if __name__ == "__main__":
    main()
