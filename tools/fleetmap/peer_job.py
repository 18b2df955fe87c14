"""What a user would do without `tools/fleet`, for `tools/fleet bench`: geopandas over the GeoPackages, or DuckDB over GeoParquet of all
their columns, with H3 cells and a few figures of each.

    tools/fleet peer geopandas exports figures.csv
    tools/fleet peer geoparquet exports raw
    tools/fleet peer duckdb raw figures.csv

They compute less than `tools/fleet map`: no checks, no replaced or withdrawn fences, no percentiles of pings, no intervals, no page.
"""

import argparse
import itertools
import pathlib

import duckdb
import geopandas
import h3.api.basic_int as h3
import pandas
import pyarrow as pa

COLUMNS = ["session", "entered_at", "pings", "pings_ok", "avg_ping_ms", "technology", "operator", "rsrp_median_dbm", "distance_m"]
QUERY = """
SELECT date_trunc('week', day) AS week, cell(bbox.ymin, bbox.xmin) AS cell, COALESCE(operator, home) AS operator, COUNT(*) AS fences,
  COUNT(DISTINCT device) AS devices, AVG((pings_ok = 0)::INT) AS share, SUM(pings) AS pings, SUM(pings_ok) AS answered,
  SUM(distance_m) AS metres, MEDIAN(rsrp_median_dbm) AS signal, quantile_disc(avg_ping_ms, [0.5, 0.95]) AS delays
FROM fences JOIN (SELECT device, MODE(operator) AS home FROM fences GROUP BY device) USING (device) GROUP BY ALL
"""


def by_duckdb(dataset: pathlib.Path, output: pathlib.Path) -> None:
    def cells(latitudes: pa.ChunkedArray, longitudes: pa.ChunkedArray) -> pa.Array:
        return pa.array(map(h3.latlng_to_cell, latitudes.to_pylist(), longitudes.to_pylist(), itertools.repeat(9)), pa.int64())

    engine = duckdb.connect(config={"threads": 2})
    engine.create_function("cell", cells, ["DOUBLE", "DOUBLE"], "BIGINT", type="arrow")  # type: ignore[call-overload]
    engine.execute(f"CREATE VIEW fences AS SELECT * FROM read_parquet('{dataset}/**/*.parquet', hive_partitioning = true,"
                   " hive_types = {'day': DATE, 'device': VARCHAR})")
    engine.sql(QUERY).write_csv(str(output))


def to_geoparquet(exports: pathlib.Path, output: pathlib.Path) -> None:
    for path in sorted(exports.rglob("*.gpkg")):
        folder = output / f"day={path.stem}" / f"device={path.parent.name}"
        folder.mkdir(parents=True)
        geopandas.read_file(path, layer="fence_centres").to_parquet(folder / "part-0.parquet", write_covering_bbox=True)


def by_geopandas(exports: pathlib.Path, output: pathlib.Path) -> None:
    parts = []
    for path in sorted(exports.rglob("*.gpkg")):
        part = geopandas.read_file(path, layer="fence_centres", columns=COLUMNS)
        part["device"] = path.parent.name
        part["operator"] = part["operator"].fillna(part["operator"].mode().iloc[0])
        part["cell"] = [h3.latlng_to_cell(point.y, point.x, 9) for point in part.geometry]
        parts.append(part.drop(columns="geometry"))
    fences = pandas.concat(parts)
    fences["week"] = fences["entered_at"].dt.tz_localize(None).dt.to_period("W")
    fences["without"] = fences["pings_ok"] == 0
    groups = fences.groupby(["week", "cell", "operator"])
    figures = groups.agg(fences=("pings", "size"), devices=("device", "nunique"), share=("without", "mean"), pings=("pings", "sum"),
                         answered=("pings_ok", "sum"), metres=("distance_m", "sum"), signal=("rsrp_median_dbm", "median"))
    delays = groups["avg_ping_ms"].quantile([0.5, 0.95], interpolation="lower").unstack()
    figures.join(delays).to_csv(output)


ENGINES = {"duckdb": by_duckdb, "geopandas": by_geopandas, "geoparquet": to_geoparquet}


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools/fleet peer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    ENGINES[options.engine](options.data, options.output)


if __name__ == "__main__":
    main()
