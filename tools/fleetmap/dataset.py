"""The data set on the disk: one file a day, sorted by cell, and the manifest that says which files are live.

    DATASET/manifest.json
    DATASET/day=2026-11-02/fences-CONTENT.parquet

New files get names of their own, and the manifest is replaced last: a run that is killed leaves the data set as it was, and the next run
removes what it left behind.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import shutil
from collections.abc import Collection, Iterable, Iterator

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

from fleetmap import lattice, lean
from fleetmap.definition import quoted
from fleetmap.errors import FleetError, make_folder
from fleetmap.manifest import Day, Death, Manifest

ROW_GROUP = 250_000
SORTED = {f"h{resolution}" for resolution in lattice.RESOLUTIONS}
DICTIONARY = ["technology", "operator", "origin", "signal", "pings", "answered", "bins.list.element"]
ENCODINGS = dict.fromkeys((*SORTED, "square", "id", "time", "delay", "distance"), "DELTA_BINARY_PACKED")


@dataclasses.dataclass
class Dataset:
    folder: pathlib.Path
    manifest: Manifest

    @staticmethod
    def read(folder: pathlib.Path) -> "Dataset":
        path = folder / "manifest.json"
        if not path.exists():
            raise FleetError(f"{folder} is no data set: it has no manifest.json")
        try:
            return Dataset(folder, Manifest.parse(path.read_text()))
        except (ValueError, KeyError, TypeError) as error:
            raise FleetError(f"{path} is damaged, make the data set again from its exports: {error!r}") from None

    def files(self) -> dict[str, str]:
        """The live files, by day."""
        return {day: str(self.folder / f"day={day}" / entry.file) for day, entry in sorted(self.manifest.days.items())}

    def damaged(self, days: Collection[str]) -> dict[str, str]:
        """The live files of some days, by day, that are missing or not what their names say."""
        paths = {day: pathlib.Path(path) for day, path in self.files().items() if day in days}
        return {day: str(path) for day, path in paths.items() if not (path.is_file() and path.name == _name(path))}

    @property
    def staging(self) -> pathlib.Path:
        return self.folder / ".staging"

    def clean(self) -> None:
        """Removes what the manifest does not list."""
        shutil.rmtree(self.staging, ignore_errors=True)
        live = set(self.files().values())
        for path in self.folder.glob("day=*/*"):
            if str(path) not in live:
                path.unlink()
        for path in self.folder.glob("day=*"):
            with contextlib.suppress(OSError):
                path.rmdir()

    def commit(self, manifest: Manifest) -> None:
        """Makes the manifest and the files that it lists the data set."""
        partial = self.folder / "manifest.json.partial"
        with partial.open("w") as file:
            file.write(manifest.text())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.folder / "manifest.json")
        self.manifest = manifest
        self.clean()


@contextlib.contextmanager
def writing(folder: pathlib.Path, settings: dict[str, object]) -> Iterator[Dataset]:
    """The data set for one writer at a time; it is made when it is missing."""
    make_folder(folder)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetError(f"another run writes to {folder}") from None
        if (folder / "manifest.json").exists():
            dataset = Dataset.read(folder)
            if dataset.manifest.settings != settings:
                raise FleetError(f"{folder} has other --cut, --exclude or --target: {dataset.manifest.settings}; to change them, make another one")
        else:
            dataset = Dataset(folder, Manifest(settings, {}, {}))
        dataset.clean()
        dataset.staging.mkdir()
        yield dataset


def damage(file: str) -> str:
    return f"{file} is damaged or missing: restore it from a backup, or make the data set again from its exports"


def memory(text: str) -> str:
    """An amount that DuckDB can read."""
    try:
        duckdb.connect(config={"memory_limit": text}).close()
    except duckdb.Error:
        raise argparse.ArgumentTypeError(f"{text} is no amount of memory, such as 500MB or 2GB") from None
    return text


@contextlib.contextmanager
def connect(memory: str, spill: pathlib.Path) -> Iterator[duckdb.DuckDBPyConnection]:
    try:
        with duckdb.connect(config={"memory_limit": memory, "temp_directory": str(spill), "threads": 2}) as engine:
            yield engine
    except duckdb.OutOfMemoryException:
        raise FleetError(f"DuckDB needs more than {memory} of memory, or more space in {spill.parent}") from None


def load_deaths(engine: duckdb.DuckDBPyConnection, deaths: Iterable[Death]) -> None:
    rows = list(deaths)
    names = ("origin", "by_number", "low", "high", "is_withdrawn")
    table = pa.table({name: pa.array([getattr(row, name) for row in rows], pa.bool_() if name[0] in "bi" else pa.int64()) for name in names})
    engine.register("deaths", table)
    engine.execute("CREATE TABLE dead_numbers AS SELECT * FROM deaths WHERE by_number")
    engine.execute("CREATE TABLE dead_times AS SELECT * FROM deaths WHERE NOT by_number")
    engine.unregister("deaths")


def rewrite(dataset: Dataset, engine: duckdb.DuckDBPyConnection, day: str, staged: list[str]) -> tuple[Day | None, int, int]:
    """Writes a day's file anew from the live one and staged files; returns it, and how many fences were replaced and withdrawn."""
    number = f"DATE '{day}' - DATE '1970-01-01'"
    names = ", ".join(lean.SCHEMA.names)
    parts = [f"SELECT {names} FROM read_parquet({quoted(dataset.files()[day])}, hive_partitioning = false)"] if day in dataset.manifest.days else []
    if staged:
        listed = ", ".join(map(quoted, staged))
        parts.append(f"SELECT {names} FROM read_parquet([{listed}], hive_partitioning = false) WHERE day = {number}")
    engine.execute(f"CREATE OR REPLACE TEMP VIEW candidates AS {' UNION ALL '.join(parts)}")
    at = f"({number}) * 86400000::BIGINT + r.time"
    engine.execute(f"""
        CREATE OR REPLACE TEMP TABLE dead AS
        SELECT r.origin, r.id, d.by_number, d.is_withdrawn
        FROM candidates r JOIN dead_numbers d ON r.origin = d.origin AND r.id BETWEEN d.low AND d.high
        UNION ALL
        SELECT r.origin, r.id, d.by_number, d.is_withdrawn
        FROM candidates r JOIN dead_times d ON r.origin = d.origin AND {at} BETWEEN d.low AND d.high""")
    [(replaced, withdrawn)] = engine.execute("""
        SELECT COUNT(*) FILTER (WHERE is_replaced), COUNT(*) FILTER (WHERE NOT is_replaced) FROM (
          SELECT bool_or(by_number) AND NOT bool_or(by_number AND is_withdrawn) AS is_replaced FROM dead GROUP BY origin, id)""").fetchall()
    alive = "" if replaced + withdrawn == 0 else "WHERE NOT EXISTS (SELECT 1 FROM dead d WHERE d.origin = r.origin AND d.id = r.id)"
    result = engine.sql(f"SELECT * FROM candidates r {alive} ORDER BY h11, origin, id")
    return _write(dataset.folder / f"day={day}", result.to_arrow_reader(ROW_GROUP)), replaced, withdrawn


def _write(folder: pathlib.Path, batches: pa.RecordBatchReader) -> Day | None:
    folder.mkdir(exist_ok=True)
    partial = folder / "fences.partial"
    count = 0
    with parquet.ParquetWriter(partial, lean.SCHEMA, compression="zstd", use_dictionary=DICTIONARY,
                               column_encoding=ENCODINGS, write_page_index=False) as writer:
        held: list[pa.RecordBatch] = []
        for batch in batches:
            held.append(batch)
            count += batch.num_rows
            if sum(part.num_rows for part in held) >= ROW_GROUP:
                held = _write_groups(writer, held, ROW_GROUP)
        _write_groups(writer, held, 1)
    if count == 0:
        partial.unlink()
        return None
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    name = _name(partial)
    partial.replace(folder / name)
    return Day(name, count)


def _name(path: pathlib.Path) -> str:
    """A file of a day is named by its content."""
    with path.open("rb") as file:
        return f"fences-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}.parquet"


def _write_groups(writer: parquet.ParquetWriter, held: list[pa.RecordBatch], least: int) -> list[pa.RecordBatch]:
    """Writes full row groups (with `least` 1 also the last one); returns the rest. Their size does not depend on the batches."""
    table = pa.Table.from_batches(held, held[0].schema).cast(lean.SCHEMA) if held else lean.SCHEMA.empty_table()
    while table.num_rows >= least and table.num_rows > 0:
        writer.write_table(table.slice(0, ROW_GROUP), row_group_size=ROW_GROUP)
        table = table.slice(ROW_GROUP)
    return table.to_batches() if table.num_rows else []
