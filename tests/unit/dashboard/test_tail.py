"""Every line of the reports is read once, whatever else is in the folder."""

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.dashboard import tail as tail_module
from dovetail.dashboard.tail import Tail
from tests.unit.dashboard.reports import RUN, report, start, write


def numbers(tail: Tail) -> list[int]:
    return [value["number"] for value, _ in tail.new()]


def test_each_line_once(tmp_path: Path) -> None:
    tail = Tail(tmp_path)
    assert numbers(tail) == []
    write(tmp_path, [report(0), report(1)])
    assert numbers(tail) == [0, 1]
    assert numbers(tail) == []
    write(tmp_path, [report(2)])
    write(tmp_path, [report(3)], number=1)
    assert numbers(tail) == [2, 3]


def test_a_line_counts_when_its_end_is_there(tmp_path: Path) -> None:
    tail, path = Tail(tmp_path), tmp_path / f"q-{RUN}-000000.jsonl"
    path.write_bytes(b'{"numb')
    assert numbers(tail) == []
    with path.open("ab") as file:
        file.write(b'er": 7}\n{"number": 8')
    assert numbers(tail) == [7]
    assert tail.bad == 0


@pytest.mark.parametrize(
    "line",
    [b"", b"not json", b"[1, 2]", b"7", b"null", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 50_000, b"9" * 10_000],
    ids=["empty", "words", "list", "number", "null", "no text", "deep list", "deep object", "long number"],
)
def test_what_is_no_report_is_counted_and_left_behind(tmp_path: Path, line: bytes) -> None:
    (tmp_path / f"q-{RUN}-000000.jsonl").write_bytes(line + b"\n" + b'{"number": 1}\n')
    tail = Tail(tmp_path)
    assert numbers(tail) == [1]
    assert tail.bad == 1


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_module, "LINE_BYTES", 1000)
    tail, path = Tail(tmp_path), tmp_path / f"q-{RUN}-000000.jsonl"
    for _ in range(5):
        with path.open("ab") as file:
            file.write(b"x" * 900)
        assert numbers(tail) == []
    assert len(tail._files[path.name].begun) <= 1000
    with path.open("ab") as file:
        file.write(b'\n{"number": 4}\n')
    assert numbers(tail) == [4]
    assert tail.bad == 1


def test_only_ordinary_files_of_the_right_name_are_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text('{"number": 1}\n')
    (tmp_path / f"link-{RUN}-000000.jsonl").symlink_to(secret)
    os.mkfifo(tmp_path / f"pipe-{RUN}-000000.jsonl")
    (tmp_path / f"folder-{RUN}-000000.jsonl").mkdir()
    (tmp_path / "other.jsonl").write_text('{"number": 1}\n')
    assert numbers(Tail(tmp_path)) == []


def test_files_vanish_and_come_back_shorter(tmp_path: Path) -> None:
    tail = Tail(tmp_path)
    path = write(tmp_path, [report(0), report(1)])
    assert numbers(tail) == [0, 1]
    path.unlink()
    assert numbers(tail) == []
    write(tmp_path, [report(5)])
    assert numbers(tail) == [5]
    path.write_text("")
    assert numbers(tail) == []
    write(tmp_path, [report(6)])
    assert numbers(tail) == [6]


def test_without_a_folder_there_is_nothing(tmp_path: Path) -> None:
    assert numbers(Tail(tmp_path / "nowhere")) == []


def test_what_was_over_an_hour_ago_is_read_only_if_there_is_nothing_newer(tmp_path: Path) -> None:
    old = write(tmp_path, [report(1)], run="00000001000000")
    older = write(tmp_path, [report(2)], run="00000000000000")
    os.utime(old, (5000, 5000))
    os.utime(older, (4000, 4000))
    assert numbers(Tail(tmp_path, lambda: 99_999.0)) == [1]
    new = write(tmp_path, [report(3)], run="00000002000000")
    os.utime(new, (99_000, 99_000))
    assert numbers(Tail(tmp_path, lambda: 99_999.0)) == [3]


def test_runs_are_read_in_the_order_of_their_starts(tmp_path: Path) -> None:
    write(tmp_path, [report(2)], run="00000002ffffff", query="a")
    write(tmp_path, [report(1)], run="00000001ffffff", query="z")
    assert numbers(Tail(tmp_path)) == [1, 2]


@settings(max_examples=60, deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=8), noise=st.lists(st.binary(max_size=30), min_size=1, max_size=4))
def test_however_the_bytes_arrive_the_lines_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], noise: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("reports")
    written = write(folder, [start(), report(0), report(1)]).read_bytes()
    written += b"".join(piece.replace(b"\n", b"") + b"!\n" for piece in noise)
    path, tail = folder / f"q-{RUN}-000000.jsonl", Tail(folder)
    path.write_bytes(b"")
    found = []
    bounds = sorted({0, len(written), *(cut for cut in cuts if cut < len(written))})
    for first, last in pairwise(bounds):
        with path.open("ab") as file:
            file.write(written[first:last])
        found += [value["kind"] for value, _ in tail.new()]
    assert found == ["start", "report", "report"]
    assert tail.bad == len(noise)
