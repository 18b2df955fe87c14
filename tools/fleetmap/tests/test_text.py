"""Entry of CSV and JSON Lines: the same fences as of a GeoPackage."""

import pathlib
from typing import Any

import pyarrow.parquet as parquet

from fleetmap.dataset import Dataset
from fleetmap.tests.made import Fence, as_text, counts, export, quietly
from fleetmap.tests.test_add import InFolder

TIME_OF_EXPORT = "2026-11-06T00:00:00.000Z"


class Text(InFolder):
    def rows(self, dataset: pathlib.Path) -> list[dict[str, Any]]:
        """All fences, without the number of their session in the data set, which depends on the file."""
        found = [row for path in Dataset.read(dataset).files().values() for row in parquet.ParquetFile(path).read().to_pylist()]
        return sorted(({name: value for name, value in row.items() if name != "origin"} for row in found), key=lambda row: str(row))

    def test_when_a_day_comes_in_any_format_then_the_fences_are_the_same(self) -> None:
        quietly("simulate", "-o", self.folder / "country", "--devices", "2", "--days", "1", "--drives", "2", "--fences", "150", "--pings", "6")
        packages = sorted((self.folder / "country" / "exports").rglob("*.gpkg"))
        quietly("add", self.folder / "of-gpkg", *packages)
        wanted = self.rows(self.folder / "of-gpkg")
        self.assertGreater(len(wanted), 500)
        for kind in ("csv", "jsonl"):
            texts = [as_text(package, self.folder / kind / package.parent.name / f"day.{kind}") for package in packages]
            status, printed = quietly("add", self.folder / f"of-{kind}", self.folder / kind)
            self.assertEqual((status, counts(printed)["files"]), (0, len(texts)))
            self.assertEqual(self.rows(self.folder / f"of-{kind}"), wanted, kind)

    def test_when_the_same_day_comes_in_all_formats_in_any_order_then_each_fence_is_there_once(self) -> None:
        package = self.file("car/a.gpkg", [Fence(number, entered_at=f"2026-11-02T10:00:{number:02d}.000Z") for number in range(1, 30)],
                            exported_at=TIME_OF_EXPORT, begins="2026-11-02T00:00:00.000Z", ends="2026-11-03T00:00:00.000Z")
        files = [package, as_text(package, self.folder / "car" / "a.csv"), as_text(package, self.folder / "car" / "a.jsonl")]
        for turn, order in enumerate(([0, 1, 2], [2, 1, 0], [1, 2, 0])):
            dataset = self.folder / f"turn-{turn}"
            for place in order:
                quietly("add", dataset, f"car={files[place]}", "--cut", "0")
            self.assertEqual(self.numbers(dataset), {"2026-11-02": list(range(1, 30))}, order)

    def test_when_a_name_looks_like_a_pattern_or_a_folder_like_a_column_then_it_is_that_file(self) -> None:
        named, other = self.file("a.gpkg", [Fence(1), Fence(2)]), self.file("b.gpkg", [Fence(1)], owner="other")
        for kind in ("csv", "jsonl"):
            text = as_text(named, self.folder / kind / "operator=23299" / f"day[1]?*.{kind}")
            as_text(other, text.with_name(f"day1xy.{kind}"))
            dataset = self.folder / f"of-{kind}"
            quietly("add", dataset, text, "--cut", "0")
            self.assertEqual(self.numbers(dataset), {"2026-11-02": [1, 2]}, kind)
            quietly("add", self.folder / "of-gpkg", named, "--cut", "0")
            self.assertEqual(self.rows(dataset), self.rows(self.folder / "of-gpkg"), kind)

    def test_when_a_text_lacks_fences_then_the_gap_is_found_and_one_without_numbers_is_refused(self) -> None:
        package = self.file("a.gpkg", [Fence(1), Fence(5, session=2)])
        for kind in ("csv", "jsonl"):
            text = as_text(package, self.folder / f"a.{kind}")
            self.assertEqual(counts(quietly("add", self.folder / kind, text, "--cut", "0")[1])["gap"], 3, kind)
        text.write_text(text.read_text().replace('"id"', '"number"'))
        self.assertIn("without a number", quietly("add", self.dataset, text)[1])

    def test_when_texts_have_days_that_follow_each_other_then_they_add_up_and_a_new_one_replaces_its_day(self) -> None:
        days = [[Fence(1), Fence(2, entered_at="2026-11-02T11:00:00.000Z")], [Fence(3, entered_at="2026-11-03T10:00:00.000Z", session=2)]]
        packages = [self.file(f"{number}.gpkg", fences) for number, fences in enumerate(days)]
        again = self.file("again.gpkg", [Fence(1, delay_ms=30.5), *days[0][1:]])
        for kind in ("csv", "jsonl"):
            dataset = self.folder / kind
            texts = [as_text(package, self.folder / "car" / f"{package.stem}.{kind}") for package in (*packages, again)]
            for text in texts:
                quietly("add", dataset, text, "--cut", "0")
            self.assertEqual([len(numbers) for numbers in self.numbers(dataset).values()], [2, 1], kind)

    def test_when_a_text_is_guarded_against_spreadsheets_then_the_guard_goes(self) -> None:
        package = self.file("a.gpkg", [Fence(1, operator="-1", link="=lte"), Fence(2, operator="'quoted'", link="=lte")])
        self.add(as_text(package, self.folder / "a.csv"))
        self.assertEqual({row["operator"] for row in self.rows(self.dataset)}, {"-1", "'quoted'"})
        [source] = Dataset.read(self.dataset).manifest.sources.values()
        self.assertEqual([session.link for session in source.sessions], ["=lte"])

    def test_when_values_of_a_text_cannot_be_then_they_are_refused_by_name_and_broken_files_in_one_line(self) -> None:
        bad = self.folder / "bad.csv"
        text = as_text(self.file("a.gpkg", [Fence(1), Fence(2, bins="x"), Fence(3, entered_at="today"), Fence(4)]), bad).read_text()
        bad.write_text(text.replace("48.2,", "148.2,", 1))
        report = self.add(bad)
        self.assertEqual({name: count for name, count in report.items() if "refused" in name},
                         {"refused: latitude": 1, "refused: histogram": 1, "refused: time": 1})
        self.assertEqual(self.numbers(), {"2026-11-02": [4]})
        for name, content in (("speed.csv", "id,store_id,test_uuid\n1,a,b\n"), ("replay.jsonl", '{"entered":1.5,"pings":3}\n'),
                              ("none.csv", text.splitlines()[0] + "\n"), ("broken.jsonl", "{\n")):
            path = self.folder / name
            path.write_text(content)
            status, printed = quietly("add", self.dataset, path, "--cut", "0")
            self.assertEqual((status, printed.count("refused: "), printed.count("\n") < 5), (1, 1, True), printed)

    def test_when_fences_were_measured_against_another_host_then_they_enter_only_by_option_and_never_with_others(self) -> None:
        package = export(self.folder / "a.gpkg", [Fence(1), Fence(2)])
        other = as_text(package, self.folder / "a.csv", target="icmp 192.0.2.1")
        self.assertEqual(self.add(other)["refused: another target"], 2)
        _, printed = quietly("add", self.folder / "of-host", package, other, "--cut", "0", "--target", "icmp 192.0.2.1")
        self.assertEqual(counts(printed)["refused: another target"], 2)
        self.assertEqual(self.numbers(self.folder / "of-host"), {"2026-11-02": [1, 2]})
