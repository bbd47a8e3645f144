"""Pipeline files whose streams and sinks Dovetail reads and writes itself."""

from pathlib import Path

import pytest

import dovetail as dv
from dovetail.cli.pipeline_file import routed
from dovetail.cli.pipeline_groups import parts_of
from dovetail.sql import Pipeline, parse_pipeline

COLUMNS = "(k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
SINK = "format = 'parquet', path = 'out', checkpoint = 'c'"
QUERY = "SELECT T.k FROM T, H WHERE T.k = H.k WINDOW 1 SECOND"


def pipeline(source: str, sink: str = SINK) -> Pipeline:
    streams = "".join(f"CREATE STREAM {name} {COLUMNS} WITH ({source});" for name in "TH")
    return parse_pipeline(f"{streams} INSERT INTO s WITH ({sink}) {QUERY}")


def test_streams_are_read_as_they_say() -> None:
    found = pipeline("format = 'CSV', path = 'in', reader = 'dovetail', max_files = 3, header = FALSE, delimiter = ';'")
    assert found.streams[0].own == dv.files("in", "csv", max_files=3, header=False, delimiter=";")
    assert pipeline("format = 'csv', path = 'in'").streams[0].own is None
    table = pipeline("format = 'iceberg', path = 'prod.shop.t', reader = 'dovetail', max_rows = 9")
    assert table.streams[0].own == dv.files("prod.shop.t", "iceberg", max_rows=9)
    (route,) = routed(found, lambda declared: pytest.fail("Spark does not read it"))
    assert [stream.data for stream in route.query.model.streams] == [found.streams[0].own] * 2
    assert route.query.model.streams[0].schema == found.streams[0].schema


def test_topics_are_read_as_they_say(tmp_path: Path) -> None:
    (tmp_path / "row.avsc").write_text('{"type": "record", "name": "r", "fields": []}')
    found = pipeline(
        "format = 'kafka', servers = 'x:1', topic = 't', values = 'avro', framed = TRUE, max_rows = 5, "
        f"value_schema_file = '{tmp_path}/row.avsc', reader = 'dovetail'"
    )
    schema = (tmp_path / "row.avsc").read_text()
    assert found.streams[0].own == dv.kafka("x:1", "t", "avro", framed=True, max_rows=5, value_schema=schema)


def test_a_sink_that_dovetail_writes_has_a_query_of_its_own() -> None:
    found = pipeline("format = 'rate'", f"{SINK}, writer = 'dovetail', compression = 'zstd'")
    assert found.inserts[0].sink.own == dv.parquet("out", "zstd")
    (part,) = parts_of(routed(found))
    assert part.why == "Dovetail writes its files itself, one query into each folder"
    assert pipeline("format = 'rate'").inserts[0].sink.own is None
    table = pipeline("format = 'rate'", "format = 'delta', path = 'out', checkpoint = 'c', writer = 'dovetail'")
    assert table.inserts[0].sink.own == dv.delta("out")


@pytest.mark.parametrize(
    ("source", "sink", "message"),
    [
        ("format = 'csv', reader = 'dovetail'", SINK, r"the options need path = '...'"),
        ("format = 'xml', path = 'x', reader = 'dovetail'", SINK, "format='xml': it is one of 'parquet'"),
        ("format = 'csv', path = 'x', reader = 'java'", SINK, "reader='java': it is one of 'spark', 'dovetail'"),
        ("format = 'csv', path = 'x', reader = 'dovetail', sep = ';'", SINK, "there is no option 'sep'"),
        (
            "format = 'parquet', path = 'x', reader = 'dovetail', max_rows = 'x'",
            SINK,
            "max_rows must be a whole number",
        ),
        ("format = 'kafka', servers = 'x', reader = 'dovetail'", SINK, r"the options need topic = '...'"),
        (
            "format = 'kafka', servers = 'x', topic = 't', value_schema_file = 'nowhere', reader = 'dovetail'",
            SINK,
            "No such file",
        ),
        ("format = 'rate'", f"{SINK}, writer = 'dovetail', mode = 'x'", "mode is not an option: Dovetail writes these"),
        (
            "format = 'rate'",
            "format = 'csv', path = 'x', checkpoint = 'c', writer = 'dovetail'",
            "writes Parquet files",
        ),
        ("format = 'rate'", f"{SINK}, writer = 'dovetail', compression = 'rar'", "compression='rar': it is one of"),
    ],
)
def test_mistakes_are_found_when_the_file_is_read(source: str, sink: str, message: str) -> None:
    with pytest.raises(dv.QueryError, match=message):
        pipeline(source, sink)
