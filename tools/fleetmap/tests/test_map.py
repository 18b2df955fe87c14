"""The map: its figures against a computation without SQL, its intervals against the truth, its files, its minimums."""

import collections
import csv
import json
import math
import pathlib
import shutil
import sqlite3
import struct
import tempfile
import unittest

import h3.api.basic_int as h3
import numpy as np
import pyarrow.parquet as parquet

from fleetmap import definition
from fleetmap.bins import lower_bounds
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError
from fleetmap.manifest import Day, Manifest
from fleetmap.tests.made import Fence, checksum, export, quietly

FIGURES = {5: "p5", 50: "p50", 95: "p95", 99: "p99"}


def nearest_rank(values: list[int], percent: int) -> int:
    return sorted(values)[math.ceil(percent * len(values) / 100) - 1]


def table(folder: pathlib.Path) -> dict[tuple[str, str, str, str], dict[str, str]]:
    with (folder / "map.csv").open(newline="") as file:
        return {(row["period"], row["cell"], row["operator"], row["technology"]): row for row in csv.DictReader(file)}


class Map(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        quietly("simulate", "-o", cls.folder / "country", "--devices", "18", "--days", "5", "--drives", "2", "--fences", "450", "--pings", "4")
        quietly("add", cls.folder / "fleet", cls.folder / "country" / "exports", "--cut", "0")
        quietly("map", cls.folder / "fleet", "-o", cls.folder / "map", "--period", "all")

    def test_when_the_figures_are_computed_without_sql_then_they_are_equal(self) -> None:
        quietly("map", self.folder / "fleet", "-o", self.folder / "days", "--grid", "h8", "--period", "day", "--least-fences", "1",
                "--least-devices", "1")
        groups: dict[tuple[str, str, str, str], list[tuple[str, sqlite3.Row]]] = collections.defaultdict(list)
        for path in sorted((self.folder / "country" / "exports").rglob("*.gpkg")):
            database = sqlite3.connect(path)
            database.row_factory = sqlite3.Row
            home = database.execute("SELECT operator FROM fence_centres WHERE operator IS NOT NULL").fetchone()[0]
            for row in database.execute("SELECT * FROM fence_centres"):
                longitude, latitude = (round(value, 7) for value in struct.unpack("<dd", row["geom"][13:]))
                cell = f"{h3.latlng_to_cell(latitude, longitude, 8):x}"
                for technology in {"all", row["technology"] or "all"}:
                    groups[(row["entered_at"][:10], cell, row["operator"] or home, technology)].append((path.parent.name, row))
            database.close()
        found = table(self.folder / "days")
        self.assertEqual(found.keys(), groups.keys())
        for key, fences in groups.items():
            rows, got = [row for _, row in fences], found[key]
            means = [round(row["avg_ping_ms"] * 1000) for row in rows if row["pings_ok"]]
            pairs = [pair.split("=") for row in rows for pair in (row["delay_bins"] or "").split()]
            pings = [int(bin) for bin, count in pairs for _ in range(int(count))]
            wanted = {
                "fences": len(rows), "pings": sum(row["pings"] for row in rows), "answered": sum(row["pings_ok"] for row in rows),
                "without": sum(row["pings_ok"] == 0 for row in rows), "devices": len({device for device, _ in fences}),
                "drives": len({(row["store_id"], row["drive"]) for row in rows}), "binned": len(pings) if pings else "",
            }
            for percent, name in FIGURES.items():
                wanted[f"fence_{name}_us"] = nearest_rank(means, percent) if means else ""
                wanted[f"ping_{name}_us"] = int(lower_bounds(np.array([nearest_rank(pings, percent)]))[0]) if pings else ""
            self.assertEqual({name: got[name] for name in wanted}, {name: str(value) for name, value in wanted.items()}, key)

    def test_when_intervals_are_held_against_the_truth_then_93_to_97_percent_have_it(self) -> None:
        # Cells whose truth is next to 0 or 1 are always held: they say nothing about the width.
        held = total = 0
        for seed in range(1, 5):
            folder = self.folder / f"seed-{seed}"
            quietly("simulate", "-o", folder, "--seed", str(seed), "--devices", "18", "--days", "7", "--drives", "1", "--fences", "700",
                    "--pings", "1")
            quietly("add", folder / "fleet", folder / "exports", "--cut", "0")
            quietly("map", folder / "fleet", "-o", folder / "map", "--period", "all")
            rows = table(folder / "map")
            with (folder / "truth.csv").open(newline="") as file:
                for truth in csv.DictReader(file):
                    row = rows.get(("all", truth["cell"], truth["operator"], "all"))
                    if row is not None and 0.01 < float(truth["without"]) < 0.99:
                        total += 1
                        held += float(row["low"]) <= float(truth["without"]) <= float(row["high"])
        print(f"intervals hold the truth in {held} of {total} cells: {held / total:.1%}")
        self.assertTrue(0.93 <= held / total <= 0.97, held / total)

    def test_when_the_files_are_read_then_all_have_the_same_rows(self) -> None:
        rows = table(self.folder / "map")
        content = parquet.read_table(self.folder / "map" / "map.parquet")
        self.assertEqual(content.num_rows, len(rows))
        self.assertEqual(json.loads(content.schema.metadata[b"geo"])["version"], "1.1.0")
        database = sqlite3.connect(self.folder / "map" / "map.gpkg")
        for cell, share, shape in database.execute("SELECT cell, share, substr(geom, 9) FROM cells WHERE technology = 'all' AND operator = '23201'"):
            text = rows[("all", cell, "23201", "all")]["share"]
            self.assertEqual(float(text) if text else None, share)
            self.assertEqual(shape[:5], b"\x01\x06\0\0\0")
        database.close()

    def test_when_cells_are_below_a_minimum_then_they_are_counted_and_not_shown(self) -> None:
        _, printed = quietly("map", self.folder / "fleet", "-o", self.folder / "few", "--period", "all", "--least-devices", "6")
        shown = {key[1:3] for key in table(self.folder / "few")}
        every = {key[1:3] for key in table(self.folder / "map")}
        self.assertLess(len(shown), len(every))
        self.assertTrue(all(int(row["devices"]) >= 6 for row in table(self.folder / "few").values()))
        self.assertIn("hidden in one period or more, below 30 fences or 6 devices: 23201", printed)

    def test_when_a_map_is_made_again_in_another_folder_or_of_a_data_set_in_another_one_then_the_bytes_are_the_same(self) -> None:
        moved = self.folder / "origin=5" / "day=2020-01-01"
        shutil.copytree(self.folder / "fleet", moved / "fleet")
        for output in (self.folder / "again", moved / "map"):
            quietly("map", moved / "fleet", "-o", output, "--period", "all")
            self.assertEqual(checksum(output), checksum(self.folder / "map"))

    def test_when_the_memory_does_not_suffice_then_the_command_says_so(self) -> None:
        with self.assertRaisesRegex(FleetError, "more than 1MB of memory"):
            quietly("map", self.folder / "fleet", "-o", self.folder / "again", "--memory", "1MB")

    def test_when_a_day_is_damaged_then_its_period_is_left_out_and_the_others_are_as_before(self) -> None:
        damaged, printed = self.folder / "damaged", {}
        shutil.copytree(self.folder / "fleet", damaged)
        path = pathlib.Path(Dataset.read(damaged).files()["2026-11-04"])
        path.write_bytes(path.read_bytes()[:999])
        for dataset in (self.folder / "fleet", damaged):
            printed[dataset] = quietly("map", dataset, "-o", self.folder / f"of-{dataset.name}", "--period", "day", "--least-devices", "1")
        wanted = {key: row for key, row in table(self.folder / "of-fleet").items() if key[0] != "2026-11-04"}
        self.assertEqual(table(self.folder / "of-damaged"), wanted)
        self.assertEqual([status for status, _ in printed.values()], [0, 1])
        self.assertIn(f"left out: period 2026-11-04: {path} is damaged or missing: restore it", printed[damaged][1])
        with self.assertRaisesRegex(FleetError, "no fences in a period without damaged files"):
            quietly("map", damaged, "-o", self.folder / "of-damaged")


class Parts(unittest.TestCase):
    def test_when_days_are_parted_then_no_period_is_divided_and_a_part_is_over_its_size_by_one_period_only(self) -> None:
        days = {f"2026-11-{number:02d}": Day("", 10) for number in range(1, 17)}  # the 1st is a Sunday
        for period, most, sizes in (("week", 140, [8, 8]), ("week", 1, [1, 7, 7, 1]), ("day", 50, [5, 5, 5, 1]), ("all", 1, [16])):
            found = definition.parts(Manifest({}, {}, days), period, most)
            self.assertEqual([len(part) for part in found], sizes)
            self.assertEqual([day for part in found for day in part], list(days))


class Selection(unittest.TestCase):
    def test_when_fences_are_at_poles_and_on_180_degrees_then_they_are_on_the_map(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            places = [(90.0, 0.0), (-90.0, 77.0), (0.0, 180.0), (0.0, -180.0)]
            export(folder / "a.gpkg", [Fence(number, *place) for number, place in enumerate(places, 1)])
            quietly("add", folder / "fleet", folder / "a.gpkg", "--cut", "0")
            quietly("map", folder / "fleet", "-o", folder / "map", "--least-fences", "1", "--least-devices", "1")
            self.assertEqual(sorted(row["fences"] for key, row in table(folder / "map").items() if key[3] == "all"), ["1", "1", "2"])

    def test_when_a_cell_is_hidden_in_two_periods_then_it_counts_once_with_the_fences_of_both(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            counts = {"2026-11-02": 1, "2026-11-03": 2, "2026-11-04": 4}
            times = [f"{day}T10:00:00.000Z" for day, count in counts.items() for _ in range(count)]
            export(folder / "a.gpkg", [Fence(number, entered_at=time) for number, time in enumerate(times)])
            quietly("add", folder / "fleet", folder / "a.gpkg", "--cut", "0")
            _, printed = quietly("map", folder / "fleet", "-o", folder / "map", "--period", "day", "--least-fences", "3", "--least-devices", "1")
            self.assertIn("23201: 1 cells with 3 fences", printed)

    def test_when_every_cell_is_below_the_minimums_or_there_is_none_then_the_command_says_so(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            quietly("add", folder / "fleet", export(folder / "a.gpkg", [Fence(1)]), "--cut", "0")
            with self.assertRaisesRegex(FleetError, "minimums"):
                quietly("map", folder / "fleet", "-o", folder / "map")
            with self.assertRaisesRegex(FleetError, "no fence begins in these hours: --hours 11-24"):
                quietly("map", folder / "fleet", "-o", folder / "map", "--hours", "11-24")

    def test_when_hours_and_links_are_chosen_then_only_their_fences_count_and_links_stand_apart(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            fences = [Fence(number, entered_at=f"2026-11-02T{number - 1:02d}:59:59.999Z", session=1 + number % 2, link=("a", "b")[number % 2])
                      for number in range(1, 25)]
            export(folder / "car" / "a.gpkg", sorted(fences, key=lambda fence: fence.number))
            quietly("add", folder / "fleet", folder, "--cut", "0")
            quietly("map", folder / "fleet", "-o", folder / "map", "--period", "all", "--hours", "6-9", "--by-link", "--least-fences", "1",
                    "--least-devices", "1")
            found = {key[2]: row["fences"] for key, row in table(folder / "map").items() if key[3] == "all"}
            self.assertEqual(found, {"23201/a": "1", "23201/b": "2"})


class Difference(unittest.TestCase):
    def test_when_one_operator_fails_at_a_place_then_the_difference_is_there_and_nowhere_else(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for device in range(4):
                operator = "23201" if device < 2 else "23203"
                fences = []
                for number in range(1, 1001):
                    latitude, longitude = 48.0 + (number - 1) % 100 / 1000, 16.0
                    fails = operator == "23203" and 48.03 <= latitude <= 48.05
                    fences.append(Fence(number, latitude, longitude, answered=0 if fails else 20, operator=None if fails else operator))
                export(folder / "exports" / f"{device}" / "a.gpkg", fences, owner=f"{device}")
            quietly("add", folder / "fleet", folder / "exports", "--cut", "0")
            quietly("map", folder / "fleet", "-o", folder / "map", "--period", "all")
            rows = table(folder / "map")
            for (_, cell, operator, technology), row in rows.items():
                if operator == "23203" and technology == "all":
                    latitude, _ = h3.cell_to_latlng(int(cell, 16))
                    apart = float(row["share"]) - float(rows[("all", cell, "23201", "all")]["share"])
                    if 48.034 < latitude < 48.046:
                        self.assertEqual(apart, 1)
                    elif not 48.026 < latitude < 48.054:
                        self.assertEqual(apart, 0)
