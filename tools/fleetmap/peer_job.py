"""What a user would do without `tools/fleet`, for `tools/fleet bench`: geopandas over the GeoPackages, with H3 cells and a few figures of each.

    tools/fleet peer exports figures.csv

It computes less than `tools/fleet map`: no checks, no replaced or withdrawn fences, no percentiles of pings, no intervals, no page.
"""

import argparse
import pathlib

import geopandas
import h3.api.basic_int as h3
import pandas

COLUMNS = ["session", "entered_at", "pings", "pings_ok", "avg_ping_ms", "technology", "operator", "rsrp_median_dbm", "distance_m"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools/fleet peer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exports", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    parts = []
    for path in sorted(options.exports.rglob("*.gpkg")):
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
    figures.join(delays).to_csv(options.output)


if __name__ == "__main__":
    main()
