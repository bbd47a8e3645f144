"""Everything that is stored says the number of its format; what is too new is refused, by name where it has one."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.dashboard.tail import Tail
from dovetail.engine.buffer.sealed import seal, seal_batch, unseal, unseal_batch
from dovetail.engine.operator.state import FORMAT, read_header
from dovetail.engine.policies.spill.files import FileStore
from dovetail.observe.reporter import Reporter
from dovetail.runtime.hot_keys import HotKeys
from dovetail.runtime.spark.source.source import NO_KEYS
from tests.formats.queries import queries

FOLDER = Path(__file__).parent
NAME = "slice 7 of 'window/A' in the checkpoint"
ROWS = pa.record_batch({"ts": pa.array([1, 2], pa.timestamp("us")), "k": [3, None], "s": ["é", None]})


def test_a_sealed_slice_of_the_first_format_is_read() -> None:
    """Slices in checkpoints, spilled parts in checkpoints and spill files on disk are all of this kind."""
    kept = (FOLDER / "sealed_1.bin").read_bytes()
    assert kept[:4] == b"DVC\x01"
    assert unseal_batch(kept, NAME).equals(ROWS)
    assert seal_batch(ROWS, NAME)[:4] == kept[:4]


def test_sealed_bytes_that_are_too_new_are_refused() -> None:
    newer = b"DVC\x02" + seal(b"{}", NAME)[4:]
    with pytest.raises(dv.StateError, match=r"slice 7 .* has format 2, or is damaged; this version .* reads format 1"):
        unseal(newer, NAME)


def test_a_header_names_its_format_and_its_release() -> None:
    (header,) = [json.loads(queries()["inner"].local().operator.state().header)]
    assert (header["format"], header["by"]) == (FORMAT, dv.__version__)
    newer = json.dumps(header | {"format": FORMAT + 1, "by": "7.1.0"}).encode()
    with pytest.raises(dv.StateError, match=rf"format {FORMAT + 1} and was written by Dovetail 7\.1\.0; this is"):
        read_header(newer)


def test_reports_of_the_first_format_are_read(tmp_path: Path) -> None:
    kept = FOLDER / "reports_1.jsonl"
    (tmp_path / "alarms-6af92b4d1c09ab-000000.jsonl").write_bytes(kept.read_bytes())
    found = [value for value, _ in Tail(tmp_path).new()]
    assert [value["kind"] for value in found] == ["start", "report", "end"]
    assert {value["v"] for value in found} == {1}


def test_reports_that_are_too_new_are_counted_and_left_behind(tmp_path: Path) -> None:
    newer = (FOLDER / "reports_1.jsonl").read_text().replace('"v":1,', '"v":2,', 1)
    (tmp_path / "alarms-6af92b4d1c09ab-000000.jsonl").write_text(newer)
    tail = Tail(tmp_path)
    assert [value["kind"] for value, _ in tail.new()] == ["report", "end"]
    assert tail.bad == 1


def test_a_spill_file_is_sealed_under_its_own_name(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path))
    store.write(3, ROWS)
    (file,) = tmp_path.glob("*/3.arrow")
    assert file.read_bytes()[:4] == b"DVC\x01"
    assert store.read(3).equals(ROWS)
    file.write_bytes(b"DVC\x02" + file.read_bytes()[4:])
    with pytest.raises(dv.StateError, match=r"3\.arrow has format 2"):
        store.read(3)
    store.close()


def test_reports_carry_their_number(tmp_path: Path) -> None:
    reporter = Reporter(tmp_path, "alarms", {})
    reporter.close()
    (file,) = tmp_path.iterdir()
    assert {json.loads(line)["v"] for line in file.read_text().splitlines()} == {1}


def test_hot_keys_of_the_first_format_are_read() -> None:
    """They are in the positions of sources, in the checkpoint's offsets."""
    kept = json.loads((FOLDER / "hot_keys_1.json").read_text())
    found = HotKeys.from_json(kept)
    assert [(key.width, key.end_us) for key in found.keys] == [(4, 1_699_999_900_000_001), (2, None)]
    assert found.to_json() == kept
    assert HotKeys().to_json() == NO_KEYS
    with pytest.raises(dv.StateError, match=r"hot keys of a position have format 2, .* reads format 1"):
        HotKeys.from_json(kept | {"format": 2})
