"""Reports on disk are private, bounded, and never in the way of files that are not reports."""

import os
import stat
from pathlib import Path

import pytest

from dovetail.observe import report_file
from dovetail.observe.report_file import ReportFile, new_run, report_files, tidy

RUN = "6af92b4d1c09ab"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "reports"


def test_folder_and_files_are_for_their_owner_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        ReportFile(folder, "alarms", RUN, b"first\n").write(b"one\n")
    finally:
        os.umask(before)
    (path,) = report_files(folder)
    assert (mode(folder), mode(path)) == (0o700, 0o600)
    assert path.read_bytes() == b"first\none\n"


@pytest.mark.parametrize("query", ["../../etc/passwd", "a/b\\c", "", ".", "näme with space", "x" * 500, "-rf", "\0\n"])
def test_any_name_of_a_query_stays_inside_the_folder(folder: Path, query: str) -> None:
    ReportFile(folder, query, RUN, b"first\n").write(b"one\n")
    (path,) = folder.iterdir()
    assert report_files(folder) == [path]


def test_a_run_keeps_a_bounded_number_of_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_file, "FILE_BYTES", 100)
    file = ReportFile(folder, "alarms", RUN, b"first\n")
    for number in range(200):
        file.write(b"%05d%s\n" % (number, b"." * 34))
    paths = report_files(folder)
    assert len(paths) == report_file.KEPT_FILES
    assert all(path.read_bytes().startswith(b"first\n") and path.stat().st_size <= 100 for path in paths)
    assert paths[-1].read_bytes().splitlines()[-1].startswith(b"00199")


def test_a_link_in_the_place_of_a_file_is_not_followed(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("keep")
    folder.mkdir(parents=True)
    (folder / f"alarms-{RUN}-000000.jsonl").symlink_to(other)
    ReportFile(folder, "alarms", RUN, b"first\n").write(b"one\n")
    assert other.read_text() == "keep"


def test_old_reports_go_and_other_files_stay(folder: Path) -> None:
    folder.mkdir(parents=True)
    old, new, other = folder / f"a-{RUN}-000000.jsonl", folder / f"b-{RUN}-000000.jsonl", folder / "notes.txt"
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (0, 0))
    tidy(folder)
    assert not old.exists()
    assert new.exists()
    assert other.exists()


def test_very_many_reports_are_thinned_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_file, "KEPT_IN_FOLDER", 3)
    folder.mkdir(parents=True)
    for number in range(9):
        (folder / f"a-{new_run(number)}-000000.jsonl").touch()
    tidy(folder)
    assert len(report_files(folder)) == 3


def test_a_line_that_was_cut_does_not_spoil_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = ReportFile(folder, "alarms", RUN, b"first\n")
    file.write(b"one\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda to, line: write(to, line[: len(line) // 2]))
    with pytest.raises(OSError, match="cut"):
        file.write(b"cut here\n")
    with pytest.raises(OSError, match="cut"):
        file.write(b"no room for another file\n")
    monkeypatch.setattr(os, "write", write)
    file.write(b"two\n")
    contents = [path.read_bytes() for path in report_files(folder)]
    assert contents == [b"first\none\ncut ", b"first\ntwo\n"]
