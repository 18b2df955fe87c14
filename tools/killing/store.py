"""The content of a state directory, read from a copy, so that the original stays as it is for the next process."""

import os
import shutil
import sqlite3
import tempfile
from collections import namedtuple

Fence = namedtuple("Fence", "id drive entered exited submittable submitted")
Drive = namedtuple("Drive", "id started log")
SpeedTest = namedtuple("SpeedTest", "test loop number outcome state qos_state")


class Store:
    """Fences, drives, speed tests, and the tests of batches and results in doubt (`doubtful`, `doubtful_results`). Times are
    microseconds since the epoch; `exited` is None while a fence is open. `damage` is SQLite's complaint, or `None`. A directory
    without a store counts as an empty store."""

    def __init__(self, state, scratch):
        self.fences, self.drives, self.doubtful, self.damage = [], [], [], None
        self.speed_tests = []
        with tempfile.TemporaryDirectory(prefix="copy-", dir=scratch) as folder:
            for suffix in ("", "-wal"):
                if os.path.exists(path := os.path.join(state, "coverage.sqlite") + suffix):
                    shutil.copy(path, folder)
            if not os.path.exists(path := os.path.join(folder, "coverage.sqlite")):
                return
            connection = sqlite3.connect(path)
            try:
                self._read(connection)
            finally:
                connection.close()

    def _read(self, connection):
        tables = {name for name, in connection.execute("SELECT name FROM sqlite_master")}
        if "batch" not in tables:
            return
        answer, = connection.execute("PRAGMA integrity_check(1)").fetchone()
        self.damage = None if answer == "ok" else answer
        rows = connection.execute("SELECT id, drive_id, entered_at, exited_at, submittable, submitted_at FROM fence ORDER BY entered_at")
        self.fences = [Fence(*row) for row in rows]
        self.drives = [Drive(*row) for row in connection.execute("SELECT id, started_at, log FROM drive ORDER BY id")]
        self.doubtful = [test for test, in connection.execute("SELECT test_uuid FROM batch WHERE state = 'sending'")]
        rows = connection.execute("SELECT test_uuid, loop_uuid, number, outcome, state, qos_state FROM speed_test ORDER BY id")
        self.speed_tests = [SpeedTest(*row) for row in rows]

    @property
    def doubtful_results(self):
        return [one.test for one in self.speed_tests if one.state == "sending"]
