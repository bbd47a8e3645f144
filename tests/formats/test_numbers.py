"""Everything that is stored says the number of its format; what is too new is refused, by name where it has one."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.dashboard.tail import Tail
from dovetail.engine.buffer.sealed import seal, seal_batch, unseal, unseal_batch
from dovetail.engine.operator.snapshot import unpack_snapshot
from dovetail.engine.operator.state import FORMAT, read_header
from dovetail.engine.policies.spill.files import FileStore
from dovetail.model.fingerprint import fingerprints
from dovetail.observe.reporter import Reporter
from dovetail.plan.thread_cells import thread_grid
from dovetail.runtime.hot_keys import HotKeys
from dovetail.runtime.local import carried_over
from dovetail.runtime.spark.checkpoint_files import check_open, mark_finished
from dovetail.runtime.spark.lineage import Lineage, StateChange
from dovetail.runtime.spark.query_set import QuerySet
from dovetail.runtime.spark.shared_checkpoint import Past, past_of, remember
from dovetail.runtime.spark.source.source import NO_KEYS
from dovetail.runtime.spark.state import _HEAD as HEAD
from dovetail.runtime.spark.state import BucketState
from dovetail.runtime.spark.variables import state_variables
from dovetail.runtime.threads.redeal import deal_out, gather
from tests.formats.queries import local_of, pushes, queries, streams_of, threads_at_once
from tests.simulation.store import PartitionStore

FOLDER = Path(__file__).parent
NAME = "slice 7 of 'window/A' in the checkpoint"
ROWS = pa.record_batch({"ts": pa.array([1, 2], pa.timestamp("us")), "k": [3, None], "s": ["é", None]})


@pytest.mark.parametrize("number", [1, 2])
def test_a_sealed_slice_of_every_format_is_read(number: int) -> None:
    """Slices in checkpoints, spilled parts in checkpoints and spill files on disk are all of this kind."""
    kept = (FOLDER / f"sealed_{number}.bin").read_bytes()
    assert kept[:4] == b"DVC" + bytes([number])
    assert unseal_batch(kept, NAME).equals(ROWS)
    for at in (3, 5, 12, len(kept) - 1):
        changed = kept[:at] + bytes([kept[at] ^ 3]) + kept[at + 1 :]
        with pytest.raises(dv.StateError, match="is damaged"):
            unseal_batch(changed, NAME)


def test_sealed_bytes_that_are_too_new_are_refused_with_their_release() -> None:
    sealed = seal_batch(ROWS, NAME)
    assert sealed[:4] == b"DVC\x02"
    newer = b"DVC\x03" + sealed[4:8] + b"7.1.0".ljust(16) + sealed[24:]
    with pytest.raises(dv.StateError, match=r"slice 7 .* has format 3 and was written by Dovetail 7\.1\.0; this is"):
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
    assert file.read_bytes()[:4] == b"DVC\x02"
    assert store.read(3).equals(ROWS)
    file.write_bytes(b"DVC\x03" + file.read_bytes()[4:])
    with pytest.raises(dv.StateError, match=r"3\.arrow is damaged, or has format 3"):
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
    assert found.to_json() == kept | {"by": dv.__version__}
    assert HotKeys().to_json() == NO_KEYS
    with pytest.raises(dv.StateError, match=r"hot keys has format 2 and was written by Dovetail 7\.1\.0"):
        HotKeys.from_json(kept | {"format": 2, "by": "7.1.0"})


def newer(header: bytes, number: int) -> bytes:
    return json.dumps(json.loads(header) | {"format": number, "by": "7.1.0"}).encode()


OUTER = {"inner": "sections", "tree": "operators", "shared": "operators", "asof": "sections", "threads": "cells"}


@pytest.mark.parametrize("name", OUTER)
def test_every_kind_of_operator_looks_at_the_outer_number(name: str) -> None:
    """Its parts have numbers of their own, and these are not too new here."""
    query = queries()[name]
    run = query.local(**local_of(name))
    with threads_at_once():
        for stream, rows in pushes(streams_of(query), 0, 1):
            run.push(stream, rows)

    def made() -> Any:
        return query.local(**local_of(name)).operator

    state = run.operator.changes()
    told = json.loads(state.header)
    assert told["by"] == dv.__version__
    assert OUTER[name] in told
    made().apply(state)
    with pytest.raises(dv.StateError, match=rf"format {FORMAT + 1} and was written by Dovetail 7\.1\.0"):
        made().apply(replace(state, header=newer(state.header, FORMAT + 1)))


def test_states_that_are_dealt_out_or_carried_over_name_their_release() -> None:
    query = queries()["inner"]
    grid, state = thread_grid(query.model, 2), query.local().operator.state()
    cells = deal_out(query.model, grid, state)
    others = [*cells, gather(query.model, grid, cells, dict.fromkeys("AB", 0))]
    others.append(
        unpack_snapshot(carried_over(query.plan, query.plan, query.local().snapshot()), *fingerprints(query.model))
    )
    assert {json.loads(each.header)["by"] for each in others} == {dv.__version__}


def test_the_set_of_queries_has_a_number() -> None:
    groups = queries()["shared"].groups
    text = QuerySet.started(groups, None).to_text()
    told = json.loads(text)
    assert (told.pop("format"), told.pop("by")) == (1, dv.__version__)
    assert QuerySet.from_text(json.dumps(told)) == QuerySet.from_text(text), "what had no number is read"
    with pytest.raises(dv.StateError, match=r"set of queries .* has format 2 and was written by Dovetail 7\.1\.0"):
        QuerySet.from_text(newer(text.encode(), 2).decode())


def test_a_lineage_has_the_number_of_the_checkpoint() -> None:
    lineage = Lineage((StateChange("a", (("window/T", 4),), (("window/T", 3),)),))
    assert Lineage.from_text('[["a", [["window/T", 4]], [["window/T", 3]]]]') == lineage, "as formats 1 and 2 had it"
    assert Lineage.from_text(lineage.to_text()) == lineage
    with pytest.raises(dv.StateError, match=r"this checkpoint has format 4 and was written by Dovetail 7\.1\.0"):
        Lineage.from_text(newer(lineage.to_text().encode(), 4).decode())


def test_a_checkpoint_that_is_too_new_is_not_called_that_of_another_query() -> None:
    """Whatever a newer release calls queries by."""
    store = PartitionStore()
    transaction = store.open(0, executor=0)
    transaction.key = (1,)
    variables: Any = state_variables(transaction, spills=False)  # type: ignore[arg-type]
    state = BucketState(variables)
    state.save(None, "mine", "the query", queries()["inner"].local().operator.changes())
    assert state.head(["mine"], "the query") is not None
    with pytest.raises(dv.StateError, match="belongs to another query"):
        state.head(["other"], "another")
    token, _, header, lineage = variables.head.get()
    body = bytes(unseal(header, HEAD, token + lineage).to_pybytes())
    text = newer(lineage.encode(), 4).decode()
    variables.head.update((token, "unknown", seal(body, HEAD, token + text), text))
    with pytest.raises(dv.StateError, match=r"this checkpoint has format 4 and was written by Dovetail 7\.1\.0"):
        state.head(["mine"], "the query")


def test_the_mark_of_a_finished_checkpoint_has_a_number(tmp_path: Path) -> None:
    mark_finished(str(tmp_path), 7)
    assert json.loads((tmp_path / "finished").read_text()) == {"format": 1, "by": dv.__version__, "batch": 7}
    with pytest.raises(dv.StateError, match="was finished"):
        check_open(str(tmp_path))


def test_what_a_checkpoint_says_of_its_shared_join_has_a_number() -> None:
    written: dict[str, str] = {}
    session: Any = Session(written)
    remember(session, "alarms", Past(home="alarms", group="5f3a"))
    told = json.loads(written["alarms/shared"])
    assert told == {"format": 1, "by": dv.__version__, "alone": False, "home": "alarms", "group": "5f3a"}
    assert past_of(session, "alarms") == Past(home="alarms", group="5f3a")
    written["alarms/shared"] = '{"alone": false, "home": "alarms", "group": "5f3a"}'
    assert past_of(session, "alarms") == Past(home="alarms", group="5f3a"), "at first it had no number"
    written["alarms/shared"] = newer(json.dumps(told).encode(), 2).decode()
    with pytest.raises(dv.StateError, match=r"alarms/shared has format 2 and was written by Dovetail 7\.1\.0"):
        past_of(session, "alarms")


@dataclass
class Session:
    """As much of a Spark session as it takes to write and read files of one line."""

    files: dict[str, str]

    def createDataFrame(self, rows: Any, schema: str) -> Any:  # noqa: N802
        writer = SimpleNamespace(text=lambda path: self.files.update({path: rows[0][0]}))
        return SimpleNamespace(coalesce=lambda _: SimpleNamespace(write=SimpleNamespace(mode=lambda _: writer)))

    @property
    def read(self) -> Any:
        return SimpleNamespace(
            text=lambda path: SimpleNamespace(collect=lambda: [SimpleNamespace(value=self.files[path])])
        )
