"""Entry: refusals, replacements, withdrawals; the same bytes in any order."""

import collections
import contextlib
import hashlib
import io
import itertools
import json
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import pyarrow.parquet as parquet

from fleetmap import definition, geopackage
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError
from fleetmap.tests.made import Fence, checksum, counts, export, quietly, store

COUNTRY = ("--devices", "6", "--days", "3", "--drives", "2", "--fences", "450", "--pings", "5")


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.dataset = self.folder / "fleet"

    def add(self, *paths: pathlib.Path | str, cut: int = 0) -> dict[str, int]:
        return counts(quietly("add", self.dataset, *paths, "--cut", str(cut))[1])

    def numbers(self, dataset: pathlib.Path | None = None) -> dict[str, list[int]]:
        """The fences of each day."""
        files = Dataset.read(dataset or self.dataset).files()
        return {day: sorted(parquet.ParquetFile(path).read(["id"])["id"].to_pylist()) for day, path in files.items()}

    def file(self, name: str, fences: list[Fence], **how: str | int) -> pathlib.Path:
        return export(self.folder / name, fences, **how)  # type: ignore[arg-type]


class OneStore(InFolder):
    def test_when_ranges_follow_each_other_then_they_add_up(self) -> None:
        noon = "2026-11-02T12:00:00.000Z"
        first = self.file("a.gpkg", [Fence(1), Fence(2)], ends=noon)
        second = self.file("b.gpkg", [Fence(3, entered_at=noon)], begins=noon)
        self.add(second)
        self.add(first)
        self.assertEqual(self.numbers(), {"2026-11-02": [1, 2, 3]})

    def test_when_a_later_export_lacks_a_session_then_it_is_withdrawn(self) -> None:
        fences = [Fence(1), Fence(2, session=2)]
        self.add(self.file("a.gpkg", fences, begins="2026-11-02T00:00:00.000Z", ends="2026-11-03T00:00:00.000Z"))
        later = self.file("b.gpkg", fences[1:], exported_at="2026-11-06T00:00:00.000Z", begins="2026-11-01T00:00:00.000Z")
        self.assertEqual(self.add(later)["withdrawn"], 1)
        self.assertEqual(self.numbers(), {"2026-11-02": [2]})

    def test_when_a_later_export_has_no_fences_then_all_are_withdrawn(self) -> None:
        self.add(self.file("a.gpkg", [Fence(1)]))
        self.add(self.file("b.gpkg", [], last=1, exported_at="2026-11-06T00:00:00.000Z"))
        self.assertEqual(self.numbers(), {})

    def test_when_an_export_has_no_fences_then_there_is_nothing_to_cut(self) -> None:
        self.assertEqual(self.add(self.file("a.gpkg", [], last=1), cut=200), {"files": 1})

    def test_when_a_session_is_quarantined_later_then_it_goes(self) -> None:
        self.add(self.file("a.gpkg", [Fence(1), Fence(2)]))
        report = self.add(self.file("b.gpkg", [Fence(1, quarantined=1), Fence(2, quarantined=1)], exported_at="2026-11-06T00:00:00.000Z"))
        self.assertEqual((report["withdrawn"], report["refused: quarantined"]), (2, 2))
        self.assertEqual(self.numbers(), {})

    def test_when_a_clock_is_corrected_then_the_fences_move_to_their_day(self) -> None:
        self.add(self.file("a.gpkg", [Fence(1)], begins="2026-11-02T00:00:00.000Z", ends="2026-11-03T00:00:00.000Z"))
        moved = Fence(1, entered_at="2026-11-04T10:00:00.000Z")
        report = self.add(self.file("b.gpkg", [moved], exported_at="2026-11-06T00:00:00.000Z", begins="2026-11-04T00:00:00.000Z"))
        self.assertEqual(report["replaced"], 1)
        self.assertEqual(self.numbers(), {"2026-11-04": [1]})

    def days(self, late: list[Fence]) -> list[pathlib.Path]:
        """The exports of two days, with 6 fences each, 60 m apart, of a session; and of the first day again with more fences."""
        days = [[Fence(6 * day + number, latitude=48.2 + (6 * day + number) * 0.00054, entered_at=f"2026-11-0{day + 2}T10:00:0{number}.000Z")
                 for number in range(1, 7)] for day in range(2)]
        made = [(f"{day}.gpkg", day, days[day], 12) for day in range(2)] + [("again.gpkg", 0, days[0][:2] + days[0][4:] + late, 14)]
        return [self.file(name, fences, last=last, begins=f"2026-11-0{day + 2}T00:00:00.000Z", ends=f"2026-11-0{day + 3}T00:00:00.000Z")
                for name, day, fences, last in made]

    def test_when_fences_recovered_from_a_log_have_the_last_numbers_then_they_enter_and_no_other_day_goes(self) -> None:
        late = [Fence(number, entered_at=f"2026-11-02T10:00:0{number - 10}.000Z") for number in (13, 14)]
        first, second, again = self.days(late)
        for order in ((first, second, again), (again, second, first)):
            dataset = self.folder / order[0].name.replace("gpkg", "fleet")
            report = [counts(quietly("add", dataset, path, "--cut", "0")[1]) for path in order]
            self.assertEqual(self.numbers(dataset), {"2026-11-02": [1, 2, 5, 6, 13, 14], "2026-11-03": [7, 8, 9, 10, 11, 12]})
            self.assertEqual([name for found in report for name in found if "refused" in name], [])
            self.assertNotIn("gap", report[-1])

    def test_when_numbers_are_not_in_the_order_of_time_then_the_ends_of_the_drive_are_cut(self) -> None:
        late = [Fence(number, latitude=48.2 + 0.1 * (number - 12), entered_at=f"2026-11-02T10:00:0{number - 10}.000Z") for number in (13, 14)]
        self.add(self.days(late)[2], cut=70)
        self.assertEqual(self.numbers(), {"2026-11-02": [13]}, "1 and 6 are the ends by time, 1 and 14 by number")

    def test_when_a_fence_begins_in_the_last_millisecond_of_a_month_then_it_is_in_that_month(self) -> None:
        self.add(self.file("a.gpkg", [Fence(1, entered_at="2026-11-30T23:59:59.999Z", exited_at="2026-12-01T00:00:01.000Z"),
                                      Fence(2, entered_at="2026-12-01T00:00:00.000Z", exited_at="2026-12-01T00:00:01.000Z")],
                           exported_at="2026-12-02T00:00:00.000Z"))
        self.assertEqual(self.numbers(), {"2026-11-30": [1], "2026-12-01": [2]})


class Entry(InFolder):
    def test_when_devices_are_called_7_and_007_then_they_stay_two(self) -> None:
        self.add(f"7={self.file('a.gpkg', [Fence(1)])}", f"007={self.file('b.gpkg', [Fence(1)], owner='other')}")
        self.assertEqual({source.device for source in Dataset.read(self.dataset).manifest.sources.values()}, {"7", "007"})
        self.assertEqual(self.numbers(), {"2026-11-02": [1, 1]})

    def test_when_only_some_exports_of_a_store_have_a_folder_then_all_are_of_one_device(self) -> None:
        self.add(self.file("a.gpkg", [Fence(1)]), f"car-7={self.file('b.gpkg', [Fence(2)])}", self.file("c.gpkg", [Fence(1)], owner="other"))
        devices = [device for _, device, *_ in definition.origins(Dataset.read(self.dataset).manifest)]
        self.assertEqual(len(devices), 3)
        self.assertEqual(len(set(devices)), 2)

    def test_when_values_cannot_be_then_they_are_refused_by_name(self) -> None:
        bad = [Fence(1, latitude=90.1), Fence(2, longitude=-180.5), Fence(3, latitude=float("nan")), Fence(4, entered_at="1970-01-01T00:00:09.000Z"),
               Fence(5, entered_at="2027-11-02T10:00:00.000Z", exited_at="2027-11-02T10:00:00.000Z"), Fence(6, exited_at="2026-11-02T09:59:59.999Z"),
               Fence(7, entered_at="today"), Fence(8, answered=21), Fence(9, delay_ms=-1), Fence(10, bins="1086=19"), Fence(11, bins="x"), Fence(12)]
        report = self.add(self.file("a.gpkg", bad))
        self.assertEqual({name: count for name, count in report.items() if "refused" in name}, {
            "refused: latitude": 2, "refused: longitude": 1, "refused: time": 3, "refused: future": 1, "refused: pings": 1, "refused: delay": 1,
            "refused: histogram": 2})
        self.assertEqual(self.numbers(), {"2026-11-02": [12]})

    def test_when_an_unset_clock_dated_an_export_then_its_fences_are_no_future_ones(self) -> None:
        self.add(self.file("a.gpkg", [Fence(1)], exported_at="1970-01-01T00:01:00.000Z"))
        self.assertEqual(self.numbers(), {"2026-11-02": [1]})

    def test_when_an_export_does_not_state_its_store_then_it_is_refused_with_the_remedy(self) -> None:
        path = self.file("a.gpkg", [Fence(1)])
        database = sqlite3.connect(path)
        database.execute("DROP TABLE export")
        database.close()
        status, printed = quietly("add", self.dataset, path)
        self.assertEqual(status, 1)
        self.assertIn("export with 0.1.0", printed)

    def test_when_a_file_is_no_export_then_it_is_refused_and_the_others_enter(self) -> None:
        broken = self.folder / "broken.gpkg"
        broken.write_bytes(b"no database, but long enough to be looked at" * 99)
        (self.folder / "gone.gpkg").symlink_to(self.folder / "nowhere")
        (self.folder / "folder.gpkg").mkdir()
        self.file("time.gpkg", [Fence(2)], exported_at="soon")
        self.file("good.gpkg", [Fence(1)])
        status, printed = quietly("add", self.dataset, self.folder, "--cut", "0")
        self.assertEqual((status, counts(printed)["refused files"], self.numbers()), (1, 4, {"2026-11-02": [1]}))

    def test_when_the_cut_is_no_distance_or_the_memory_no_amount_then_the_command_is_refused(self) -> None:
        path = self.file("a.gpkg", [Fence(1)])
        for option, value in (("--cut", "-1"), ("--cut", "nan"), ("--cut", "inf"), ("--memory", "abc")):
            with self.assertRaises(SystemExit) as caught, contextlib.redirect_stderr(io.StringIO()) as printed:
                quietly("add", self.dataset, path, option, value)
            self.assertEqual(caught.exception.code, 2)
            self.assertIn(f"argument {option}: {value} is no ", printed.getvalue())

    def test_when_paths_have_equals_signs_then_only_the_one_after_a_device_counts(self) -> None:
        path = self.file("region=north/day=1.gpkg", [Fence(1)])
        for given, device in ((path, store("car")), (f"car-7={path}", "car-7"), (path.parent, store("car"))):
            self.add(given)
            [source] = Dataset.read(self.dataset).manifest.sources.values()
            self.assertEqual(source.device, device)
            shutil.rmtree(self.dataset)
        with self.assertRaisesRegex(FleetError, f"no car=7={path}, and no 7={path} of a device car"):
            self.add(f"car=7={path}")

    def test_when_a_data_set_lies_below_folders_that_look_like_columns_then_they_are_none(self) -> None:
        below = self.folder / "origin=5" / "day=2020-01-01" / "fleet"
        for path in (self.file("a.gpkg", [Fence(1)]), self.file("b.gpkg", [Fence(2)])):
            self.add(path)
            quietly("add", below, path, "--cut", "0")
        self.assertEqual(checksum(below), checksum(self.dataset))

    def test_when_a_day_is_damaged_then_the_exports_that_change_it_are_refused_until_it_is_restored_and_the_others_enter(self) -> None:
        fence = Fence(2, entered_at="2026-11-03T10:00:00.000Z", session=2)
        paths = [self.file("a.gpkg", [Fence(1)], last=1), self.file("b.gpkg", [fence], owner="other")]
        both = self.file("c.gpkg", [Fence(1), fence], last=2, begins="2026-11-02T00:00:00.000Z")
        self.add(*paths[:1])
        wanted = checksum(self.dataset)
        [day] = map(pathlib.Path, Dataset.read(self.dataset).files().values())
        whole = day.read_bytes()
        for content in (whole[:999], whole[:-99] + b"x" + whole[-98:], None):
            day.unlink() if content is None else day.write_bytes(content)
            status, printed = quietly("add", self.dataset, both, "--cut", "0")
            self.assertEqual((status, printed.count("refused: "), printed.count(f"{day} is damaged or missing: restore it")), (1, 1, 1), printed)
            day.parent.mkdir(exist_ok=True)
            day.write_bytes(whole)
            self.assertEqual(checksum(self.dataset), wanted)
        day.write_bytes(whole[:999])
        self.assertEqual(self.add(both, paths[1]), {"refused files": 1, "files": 1, "fences": 1})
        day.write_bytes(whole)
        self.add(both)
        quietly("add", self.folder / "whole", *paths, both, "--cut", "0")
        self.assertEqual(checksum(self.dataset), checksum(self.folder / "whole"))

    def test_when_a_file_is_where_a_folder_is_needed_then_the_command_says_so(self) -> None:
        path = self.file("a.gpkg", [Fence(1)])
        self.add(path)
        for command in (("add", path, path), ("map", self.dataset, "-o", path), ("map", self.dataset, "-o", path / "map"), ("simulate", "-o", path)):
            with self.assertRaisesRegex(FleetError, "a folder is needed"):
                quietly(*command)
        (self.folder / "map" / "map.csv").mkdir(parents=True)
        with self.assertRaisesRegex(FleetError, "map.csv is a folder"):
            quietly("map", self.dataset, "-o", self.folder / "map", "--least-fences", "1", "--least-devices", "1")

    def test_when_fences_are_near_a_start_or_in_a_zone_then_they_are_left_out_and_counted(self) -> None:
        path = self.file("a.gpkg", [Fence(number, latitude=48.2 + number / 1000, entered_at=f"2026-11-02T10:00:{number:02d}.000Z")
                                    for number in range(1, 21)])
        zones = self.folder / "zones.txt"
        zones.write_text("48.210,16.3,50 # a depot\n")
        report = counts(quietly("add", self.dataset, path, "--cut", "200", "--exclude", zones)[1])
        self.assertEqual((report["refused: start or end of a drive"], report["refused: in a zone"]), (4, 1))
        with self.assertRaises(FleetError):
            self.add(path, cut=100)

    def test_when_a_data_set_is_read_then_it_has_no_coordinates(self) -> None:
        self.add(self.file("a.gpkg", [Fence(1)]))
        [path] = Dataset.read(self.dataset).files().values()
        names = parquet.ParquetFile(path).schema_arrow.names
        self.assertFalse([name for name in names if "lat" in name or "lon" in name or name == "geom"])


class SmallCountry(InFolder):
    def test_when_a_country_is_too_small_for_a_fault_then_nothing_is_written_and_in_the_smallest_one_each_is_found(self) -> None:
        smallest = {"--devices": "6", "--days": "3", "--fences": "34", "--drives": "1", "--pings": "1", "--towns": "4"}
        for option, value in (("--devices", "5"), ("--days", "2"), ("--fences", "33")):
            with self.assertRaisesRegex(FleetError, "needs a larger country: --devices 6, --days 3 and --fences 34"):
                quietly("simulate", "-o", self.folder / "small", "--faults", "all", *itertools.chain(*(smallest | {option: value}).items()))
            self.assertFalse((self.folder / "small").exists())
        quietly("simulate", "-o", self.folder / "country", "--faults", "all", *itertools.chain(*smallest.items()))
        injected = json.loads((self.folder / "country" / "faults.json").read_text())
        report = self.add(self.folder / "country" / "exports")
        self.assertEqual({name: report.get(name) for name in injected}, injected)
        self.assertTrue(all(injected.values()), injected)

    def test_when_a_country_can_have_no_route_or_fence_then_the_command_is_refused(self) -> None:
        for option, value in (("--devices", "0"), ("--days", "0"), ("--drives", "0"), ("--fences", "0"), ("--pings", "0"), ("--towns", "3")):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                quietly("simulate", "-o", self.folder / "small", option, value)


class Country(InFolder):
    def setUp(self) -> None:
        super().setUp()
        quietly("simulate", "-o", self.folder / "country", "--faults", "all", *COUNTRY)
        self.exports = self.folder / "country" / "exports"
        self.injected = json.loads((self.folder / "country" / "faults.json").read_text())

    def test_when_faults_are_injected_then_the_report_has_each_of_them(self) -> None:
        report = self.add(self.exports)
        self.assertEqual({name: report.get(name, 0) for name in self.injected}, self.injected)
        self.assertEqual({name for name in report if name.startswith("refused")} - set(self.injected), set())

    def test_when_an_export_is_read_in_many_batches_then_the_bytes_are_the_same(self) -> None:
        self.add(self.exports, cut=200)
        before = geopackage.BATCH
        self.addCleanup(setattr, geopackage, "BATCH", before)
        geopackage.BATCH = 101
        quietly("add", self.folder / "batches", self.exports)
        self.assertEqual(checksum(self.folder / "batches"), checksum(self.dataset))

    def test_when_exports_come_in_any_order_and_twice_then_the_bytes_are_the_same(self) -> None:
        self.add(self.exports)
        wanted, order = checksum(self.dataset), random.Random(7)
        files = sorted(self.exports.rglob("*.gpkg"))
        total: collections.Counter[str] = collections.Counter()
        for turn in range(20):
            given = [f"{path.parent.name}={path}" for path in files + order.sample(files, 5)]
            order.shuffle(given)
            middle = order.randrange(1, len(given))
            for part in (given[:middle], given[middle:]):
                total.update(counts(quietly("add", self.folder / f"turn-{turn}", *part, "--cut", "0")[1]))
            self.assertEqual(checksum(self.folder / f"turn-{turn}"), wanted, turn)
        self.assertGreater(total["withdrawn"], 0)

    def test_when_a_run_is_killed_then_the_data_set_is_as_it_was_and_the_next_run_completes_it(self) -> None:
        files = sorted(self.exports.rglob("*.gpkg"))
        self.add(*(f"{path.parent.name}={path}" for path in files[::2]))
        quietly("add", self.folder / "whole", self.exports, "--cut", "0")
        whole, pause = checksum(self.folder / "whole"), random.Random(3)
        manifests = {checksum(self.dataset)["manifest.json"], whole["manifest.json"]}
        half, killed = self.folder / "half", 0
        self.dataset.rename(half)
        begun = time.monotonic()
        shutil.copytree(half, self.dataset)
        self.add(self.exports)
        took = time.monotonic() - begun
        command = [sys.executable, "-m", "fleetmap", "add", str(self.dataset), str(self.exports), "--cut", "0"]
        while killed < 10:
            shutil.rmtree(self.dataset)
            shutil.copytree(half, self.dataset)
            run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            while run.poll() is None and not Dataset.read(self.dataset).staging.exists():
                time.sleep(0.001)
            time.sleep(pause.uniform(0, took))
            run.send_signal(signal.SIGKILL)
            killed += run.wait() != 0
            # Before or after the run, never between; a file's name has the hash of its bytes.
            self.assertIn(checksum(self.dataset)["manifest.json"], manifests)
            for path in map(pathlib.Path, Dataset.read(self.dataset).files().values()):
                self.assertIn(hashlib.sha256(path.read_bytes()).hexdigest()[:16], path.name)
            self.add(self.exports)
            self.assertEqual(checksum(self.dataset), whole)
