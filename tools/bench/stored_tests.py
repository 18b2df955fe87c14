"""Speed tests of made-up stores: rows as the program writes them, each with its checksum (docs/store.md)."""

import json
import random
import sqlite3

import stores


def rate(kbps, points=2, measured=7_000_000_000, silence=30_000_000):
    """One direction (SpeedTestRate), with curves of three connections, of which `measured` ns of 7 s were measured."""
    size = kbps * measured // 8_000_000
    curve = [[measured * (point + 1) // points, size * (point + 1) // points // 3] for point in range(points)]
    return {"kilobitsPerSecond": kbps, "bytes": size, "nanoseconds": measured, "began": 3_000_000_000, "connections": 3, "curves": [curve] * 3,
            "planned": 7_000_000_000, "silence": silence}


def figures(download, upload, pings_ns, delays_ns, points=2, links=None, measured=7_000_000_000, silence=30_000_000):
    """The column `figures` (SpeedTestFigures). Rates in kbit/s or None; delays: medians by part of the test; links: their kinds in order."""
    coded = {
        "server": "198.51.100.1", "port": 443, "serverVersion": "1.3.5", "kind": "RMBThttp", "fellBackToOne": False, "places": [],
        "pings": [{"client": value + 400_000, "server": value, "offset": number} for number, value in enumerate(pings_ns)],
        "traffic": {"received": 50_000_000, "sent": 20_000_000},
        "delays": [{"part": part, "pings": 70, "lost": 0, "median": value, "percentile95": value * 2} for part, value in delays_ns.items()]}
    if links is not None:
        coded["links"] = [{"kind": kind, "interface": f"link{number}", "since": number * 1_000_000_000} for number, kind in enumerate(links)]
    for name, value in (("download", download), ("upload", upload)):
        if value is not None:
            coded[name] = rate(value, points, *((measured, silence) if name == "download" else ()))
    return json.dumps(coded, sort_keys=True)


def open_store(database):
    db = sqlite3.connect(database)
    db.create_function("checksum_of_row", -1, stores.checksum, deterministic=True)
    return db


def insert(db, name, started_us, outcome, technology, coded, drive=None, place=(None, None)):
    db.execute(
        "INSERT INTO speed_test (control_server, client_uuid, test_uuid, test_token, drive_id, writer, started_at, ended_at, outcome, state,"
        " latitude, longitude, technology, figures) VALUES ('http://127.0.0.1:1', 'C', ?, 't', ?, 'bench', ?, ?, ?, 'submitted', ?, ?, ?, ?)",
        (name, drive, started_us, started_us + 20_000_000, outcome, *place, technology, coded))


def fill(database, name, starts_us, drive=None, factor=1.0, points=2, delays=True, seed=7, place=(None, None)):
    """A test at each time: on three technologies, one in twelve failed, one in seventeen aborted; `factor` multiplies the rates."""
    chance = random.Random(f"{name} {seed}")
    db = open_store(database)
    with db:
        for number, started in enumerate(starts_us):
            technology, download, ping = chance.choice([("5G/NRNSA", 180_000, 14), ("4G/LTE", 48_000, 31), ("4G/LTE", 52_000, 28), (None, 9_000, 70)])
            outcome = "failed" if number % 12 == 7 else "aborted" if number % 17 == 11 else "completed"
            # Steps of 1 Mbit/s: equal values share their ranks.
            down = max(1, round(download * factor * chance.lognormvariate(0, 0.35) / 1000)) * 1000
            up = round(down * chance.uniform(0.2, 0.5))
            pings = [round(ping * 1e6 * chance.lognormvariate(0, 0.1)) for _ in range(10)]
            idle = round(ping * 1e6 * chance.lognormvariate(0, 0.1))
            under = {"idle": idle, "download": round(idle * chance.uniform(0.9, 6)), "upload": round(idle * chance.uniform(0.9, 9))}
            links = {3: ["wifi"], 5: ["cellular"], 9: ["cellular", "wifi"], 13: ["ethernet"]}.get(number % 15)
            if links and links != ["cellular"]:
                technology = None
            coded = figures(down, None if outcome == "failed" else up, pings, under if delays and number % 5 != 3 else {}, points, links,
                            *((2_180_000_000, 4_820_000_000) if number % 9 == 2 else (7_000_000_000, 2_000_000_000 if number % 9 == 6 else 30_000_000)))
            insert(db, f"{name}-{number}", started, outcome, technology, None if outcome == "aborted" else coded, drive, place)
    db.close()
