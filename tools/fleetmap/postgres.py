"""A PostgreSQL of its own in a folder, with PostGIS, reached by a socket in that folder only; and the aggregate in it."""

import contextlib
import datetime
import math
import os
import pathlib
import pwd
import shutil
import subprocess
from collections.abc import Iterator

import psycopg
import pyarrow as pa

from fleetmap import geometry
from fleetmap.errors import FleetError, make_folder
from fleetmap.page import FIGURES

SCHEMA = pathlib.Path(__file__).with_name("serving.sql")
KEY = ("period", "resolution", "cell", "operator", "technology")
MERCATOR_RADIUS_M, MERCATOR_LATITUDE = 6_378_137.0, 85.051128


def programs() -> pathlib.Path | None:
    """The folder of Debian's newest PostgreSQL with PostGIS."""
    found = [path for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin")
             if (pathlib.Path("/usr/share/postgresql") / path.parent.name / "extension" / "postgis.control").exists()]
    return max(found, key=lambda path: int(path.parent.name), default=None)


@contextlib.contextmanager
def running(folder: pathlib.Path) -> Iterator[str]:
    """The connection string of a server whose data are in `folder`; it ends with the block."""
    found = programs()
    if found is None:
        raise FleetError("there is no PostgreSQL with PostGIS: apt-get install postgresql-15-postgis-3")
    make_folder(folder)
    prefix: list[str] = []
    if os.geteuid() == 0:
        # PostgreSQL does not run as root.
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    folder.chmod(0o700)
    data, log = folder / "data", folder / "log"

    def call(*command: str) -> None:
        done = subprocess.run([*prefix, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd="/")
        if done.returncode != 0:
            last = done.stderr.strip() or (log.read_text().strip()[-500:] if log.exists() else "")
            raise FleetError(f"{pathlib.Path(command[0]).name} failed: {last}")

    if not (data / "PG_VERSION").exists():
        shutil.rmtree(data, ignore_errors=True)
        call(str(found / "initdb"), "--pgdata", str(data), "--auth", "trust", "--username", "fleet", "--encoding", "UTF8", "--locale", "C.UTF-8")
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c max_wal_size=1GB"
    call(str(found / "pg_ctl"), "--pgdata", str(data), "--log", str(log), "--options", options, "--wait", "start")
    try:
        yield f"host={folder} dbname=postgres"
    finally:
        call(str(found / "pg_ctl"), "--pgdata", str(data), "--mode", "fast", "--wait", "stop")


def prepare(connection: psycopg.Connection) -> None:
    connection.execute(SCHEMA.read_bytes())
    connection.commit()


def load(connection: psycopg.Connection, resolution: int, batches: Iterator[pa.RecordBatch], outlines: dict[str, list[geometry.Ring]]) -> int:
    """Makes the rows those of the resolution: new and changed ones are upserted by their key, others go. One transaction."""
    names = (*KEY, *FIGURES)
    listed = ", ".join(names)
    with connection.transaction():
        connection.execute("CREATE TEMP TABLE arrived (LIKE figures) ON COMMIT DROP")
        connection.execute("CREATE TEMP TABLE outlined (LIKE shapes) ON COMMIT DROP")
        with connection.cursor().copy(f"COPY arrived ({listed}) FROM STDIN") as copy:
            for batch in batches:
                for row in batch.to_pylist():
                    copy.write_row([row["period"], resolution, *(row[name] for name in names[2:])])
        with connection.cursor().copy("COPY outlined (resolution, cell, shape) FROM STDIN") as copy:
            for cell, rings in outlines.items():
                copy.write_row([resolution, cell, "0106000020110F0000" + geometry.wkb([mercator(ring) for ring in rings])[5:].hex()])
        # Without statistics, the deletion below would compare every row with every other one.
        connection.execute("ANALYZE arrived")
        for (month,) in connection.execute("SELECT DISTINCT date_trunc('month', period)::date FROM arrived").fetchall():
            _partition(connection, month)
        connection.execute("INSERT INTO shapes SELECT * FROM outlined ON CONFLICT DO NOTHING")
        changed = ", ".join(f"{name} = EXCLUDED.{name}" for name in FIGURES)
        connection.execute(f"INSERT INTO figures ({listed}) SELECT {listed} FROM arrived ON CONFLICT ({', '.join(KEY)}) DO UPDATE SET {changed}"
                           f" WHERE ({', '.join('figures.' + name for name in FIGURES)}) IS DISTINCT FROM"
                           f" ({', '.join('EXCLUDED.' + name for name in FIGURES)})")
        same = " AND ".join(f"a.{name} = f.{name}" for name in KEY)
        connection.execute(f"DELETE FROM figures f WHERE f.resolution = %s AND NOT EXISTS (SELECT 1 FROM arrived a WHERE {same})", (resolution,))
        [count] = connection.execute("SELECT COUNT(*) FROM arrived").fetchall()[0]
    return int(count)


def _partition(connection: psycopg.Connection, month: datetime.date) -> None:
    following = (month.replace(day=28) + datetime.timedelta(days=4)).replace(day=1)
    connection.execute(f"CREATE TABLE IF NOT EXISTS figures_{month:%Y_%m} PARTITION OF figures"
                       f" FOR VALUES FROM ('{month}') TO ('{following}')")


def mercator(ring: geometry.Ring) -> geometry.Ring:
    """A ring in metres of EPSG:3857, which ends at 85 degrees."""
    return [(MERCATOR_RADIUS_M * math.radians(longitude), MERCATOR_RADIUS_M * math.asinh(math.tan(math.radians(
        max(-MERCATOR_LATITUDE, min(MERCATOR_LATITUDE, latitude)))))) for longitude, latitude in ring]
