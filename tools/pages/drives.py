"""Stores of drives for the map page: a town, a motorway, a dead zone; several links; the modem's report; hostile names."""

import json
import math
import os
import random
import sqlite3
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))

import stores

HOSTILE = "</script><script>document.title='broken'</script>\u2028<img src=x onerror=alert(1)>"
START_US = 1_795_168_800_000_000
FENCES_A_SESSION = 400
COLUMNS = ("drive_id", "session_id", "number", "entered_at", "exited_at", "last_seen_at", "latitude", "longitude", "accuracy_m", "altitude_m",
           "course_deg", "speed_mps", "radius_m", "technology", "pings", "pings_ok", "rtt_sum_ns", "pings_late", "pings_duplicate", "rtt_min_ns",
           "rtt_p50_ns", "rtt_p95_ns", "rtt_max_ns", "ipdv_mean_ns", "submittable", "radio", "rtt_bins")
TYPICAL = {"5G/NRNSA": (22, -84), "4G/LTE": (41, -97), "2G/EDGE": (310, -88), None: (0, None)}
QUANTITY = {"5G/NRNSA": "rsrp", "4G/LTE": "rsrp", "2G/EDGE": "rssi"}
CHANNELS = (1300, 3350, 6300)  # B3, B7, B20


def fence_figures(chance, technology, link, drift):
    """Pings and delays in nanoseconds of a fence."""
    delay, signal = TYPICAL[technology]
    pings = chance.randint(24, 40)
    if technology is None:
        return pings, 0, (0, 0, 0, None, None, None, None, None), None
    delay = delay * (1.25 if link == "B" else 1) * math.exp(chance.gauss(drift * 0.5, 0.16))
    lost = sum(chance.random() < 0.004 + 0.05 * max(0, drift) for _ in range(pings))
    answered = max(1, pings - lost)
    median, low = delay * 1e6, delay * 0.72e6
    p95 = median * (1.5 + chance.random() * (0.4 + max(0, drift)))
    values = tuple(int(value) for value in (median * 1.07 * answered, 0, 0, low, median, p95, p95 * 1.3, median * 0.09))
    level = round(signal - 9 * drift + chance.gauss(0, 3), 1)
    return pings, answered, values, (QUANTITY[technology], level)


def delay_bins(median_ns, answered):
    """The bins of this many delays about a median (docs/export.md): log-normal, without chance."""
    bins = {}
    for place in range(answered):
        delay = int(median_ns / 1000 * math.exp(statistics.NormalDist(0, 0.3).inv_cdf((place + 0.5) / answered)))
        octave = max(0, delay.bit_length() - 7)
        number = 64 * octave + (delay >> octave)
        bins[number] = bins.get(number, 0) + 1
    return " ".join(f"{number}={count}" for number, count in sorted(bins.items())) or None


TEST_COLUMNS = ("control_server", "client_uuid", "test_uuid", "test_token", "loop_uuid", "number", "drive_id", "writer", "started_at", "ended_at",
                "outcome", "state", "error", "latitude", "longitude", "technology", "figures")
RATES = {"5G/NRNSA": (212_400, 48_100, 18), "4G/LTE": (47_810, 19_060, 33), "2G/EDGE": (180, 90, 310), None: (0, 0, 0)}


def test_figures(technology, operator, number, on_wifi=False, interrupted=False):
    """The coded SpeedTestFigures of a test (Sources/Coverage/SpeedTest)."""
    download, upload, ping = RATES[technology]
    factor = 0.6 + number % 5 / 5

    def rate(kilobits, began):
        return {"kilobitsPerSecond": int(kilobits * factor), "bytes": kilobits * 875, "nanoseconds": 7_000_000_000, "began": began,
                "connections": 3, "curves": [[[3_500_000_000, kilobits * 146], [7_000_000_000, kilobits * 292]]],
                "planned": 7_000_000_000, "silence": 3_200_000_000 if interrupted else 31_000_000}

    delays = [{"part": part, "pings": 70, "lost": number % 3, "median": int(ping * load * 1e6), "percentile95": int(ping * load * 2e6)}
              for part, load in (("idle", 1), ("download", 3.1), ("upload", 4.7))]
    return {"server": "192.0.2.1", "port": 443, "serverName": operator, "serverVersion": "1.3.5", "kind": "RMBT", "download": rate(download, 3_000_000_000),
            "upload": rate(upload, 12_000_000_000), "pings": [{"client": ping * 10**6, "server": ping * 10**6, "offset": 0}] * 3,
            "fellBackToOne": False, "traffic": {"received": 5_000_000, "sent": 2_000_000}, "places": [], "operatorCode": "99901",
            "operatorName": operator, "isRoaming": False, "delays": delays,
            "links": [{"kind": "wifi", "interface": "wlan0", "since": 0} if on_wifi else {"kind": "cellular", "interface": "wwan0", "since": 0}]}


def add_tests(database, hostile=False, every=90):
    """Speed tests at regular fences of the first link: most completed, the others failed, aborted, or without a place."""
    db = sqlite3.connect(database)
    db.create_function("checksum_of_row", -1, stores.checksum, deterministic=True)
    operator = HOSTILE if hostile else "Example Mobil"
    fences = db.execute("SELECT drive_id, entered_at, latitude, longitude, technology FROM fence JOIN drive ON drive.id = drive_id "
                        "WHERE link IS NULL OR link = 'A' ORDER BY fence.id").fetchall()
    with db:
        for number, (drive, at, latitude, longitude, technology) in enumerate(fences[7::every]):
            outcome = "aborted" if number % 6 == 3 else "failed" if number % 6 == 4 or not technology else "completed"
            on_wifi = number % 12 == 5
            figures = test_figures(technology, operator, number, on_wifi, number % 12 == 8) if outcome == "completed" else None
            error = None if figures else operator if hostile else "the server closed the connection during the download"
            place = (None, None) if number % 8 == 7 else (latitude, longitude)
            if on_wifi:
                technology = None
            row = ("http://127.0.0.1:1", "C", f"10000000-0000-4000-8000-{number:012d}", "t", f"L{drive}", number % 20 + 1, drive, "w", at,
                   at + 18_000_000, outcome, "waiting" if number % 2 else "submitted", error, *place, technology,
                   json.dumps(figures) if figures else None)
            db.execute(f"INSERT INTO speed_test ({', '.join(TEST_COLUMNS)}) VALUES ({', '.join('?' * len(row))})", row)
    db.close()


def fill(database, fences, links=("A", "B"), radio=True, seed=15, hostile=False, channels=CHANNELS, session=FENCES_A_SESSION):
    """`session`: the fences of each session; a drive has three."""
    chance = random.Random(seed)
    db = sqlite3.connect(database)
    db.create_function("checksum_of_row", -1, stores.checksum, deterministic=True)
    db.execute("PRAGMA synchronous = OFF")
    insert = f"INSERT INTO fence ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
    of_link = fences // len(links)
    with db:
        for place, link in enumerate(links):
            fill_link(db, insert, of_link + (fences % len(links) if place == 0 else 0), link if len(links) > 1 else None, radio, chance, hostile,
                      channels, session)
    db.close()


def fill_line(database, latitude, longitude, fences=14, step=21.3, link=None, technology="4G/LTE", tunnel=0):
    """`tunnel`: the seconds without a position in the last fence. Fences of 15 m in a row eastwards, this many metres apart, also over the antimeridian: most answered, two lost, two without pings, two
    touched by Wi-Fi (one of them without an answer)."""
    db = sqlite3.connect(database)
    db.create_function("checksum_of_row", -1, stores.checksum, deterministic=True)
    with db:
        drive = db.execute("INSERT INTO drive (started_at, ended_at, stop_reason, link) VALUES (?, ?, 'user', ?)", (START_US, START_US + 1, link)).lastrowid
        session = db.execute("INSERT INTO session (drive_id, number, started_at, finalized_at) VALUES (?, 0, ?, ?)",
                             (drive, START_US, START_US + 1)).lastrowid
        # A degree of longitude on the ellipsoid: the radius of curvature in the prime vertical.
        phi = math.radians(latitude)
        degree = 6_378_137 / math.sqrt(1 - 0.00669437999 * math.sin(phi) ** 2) * math.cos(phi) * math.pi / 180
        for number in range(fences):
            east = math.remainder(longitude + number * step / degree, 360)
            pings, answered = {3: (30, 0), 4: (30, 0), 6: (0, 0), 7: (0, 0), 9: (12, 12), 10: (8, 0)}.get(number, (30, 30))
            delay = [32_000_000] * 4 if answered else [None] * 4
            at = START_US + number * 3_000_000
            end = at + 3_000_000 + (tunnel * 1_000_000 if number == fences - 1 else 0)
            row = (drive, session, number, at, end, end, latitude, east, 3.4, 171.0, 90.0, 7.1, 15.0, technology, pings,
                   answered, 32_000_000 * answered, 0, 0, *delay, 2_000_000 if answered else None, int(number not in (9, 10)), None, None)
            db.execute(f"INSERT INTO fence ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})", row)
    db.close()


def add_cells(report, technology, number, level, channels):
    """The serving cell on one of some bands, and what the modem tells of other cells."""
    channel = channels[number // 70 % len(channels)]
    report["cell"] = {"kind": "lte", "mcc": "999", "mnc": "01", "id": 256 + number // 70, "pci": number // 70 % 504, "channel": channel}
    report["environment"] = {"timing_advance": 3 + number % 9, "neighbours": 1 + number % 4,
                             "neighbour": {"kind": "lte", "pci": 77, "channel": channel, "rsrp": round(level - 8, 1)}}
    if number % 3:
        report["environment"]["carriers"] = 2 + number // 70 % 2
    if technology == "5G/NRNSA":
        report["environment"]["nr_cell"] = {"kind": "nr", "pci": 31, "channel": 632_628}
        report["levels"].append({"quantity": "nr_rsrp", "minimum": level - 9, "median": level - 5, "maximum": level})


def fill_link(db, insert, fences, link, radio, chance, hostile, channels, of_session):
    latitude, longitude, course, technology, at = 48.2096, 16.3706, 200.0, "5G/NRNSA", START_US
    drive = session = None
    for number in range(fences):
        in_drive = number % (3 * of_session)
        if in_drive == 0:
            if drive is not None:
                at += 3600 * 20 * 1_000_000
            name = HOSTILE if hostile and link == "B" else link
            drive = db.execute("INSERT INTO drive (started_at, ended_at, stop_reason, link) VALUES (?, ?, 'user', ?)", (at, at + 1, name)).lastrowid
        if in_drive % of_session == 0:
            test = f"00000000-0000-4000-8000-{drive:06d}{in_drive:06d}"
            session = db.execute(
                "INSERT INTO session (drive_id, number, test_uuid, started_at, anchor_at, finalized_at) VALUES (?, ?, ?, ?, ?, ?)",
                (drive, in_drive // of_session, test, at, at, at + 1)).lastrowid
        # A road: a slow turn, with bends.
        bend = 1.4 * math.sin(number / 37) + 1.1 * math.sin(number / 11) + chance.gauss(0, 1)
        course = (course + bend + (0.35 if in_drive > 250 else 0)) % 360
        speed = 9 if in_drive < 150 else 24
        radius = 20 if speed < 15 else 36
        step = radius * 2.02
        latitude += math.cos(math.radians(course)) * step / 111_200
        longitude += math.sin(math.radians(course)) * step / (111_200 * math.cos(math.radians(latitude)))
        if number % 55 == 54:
            technology = chance.choice(["5G/NRNSA", "4G/LTE", "4G/LTE", "4G/LTE", "2G/EDGE"])
        now = None if in_drive % 400 in range(300, 312) else technology
        drift = math.sin(number / 31) * 0.8 + 0.25 * math.sin(number / 7)
        pings, answered, figures, level = fence_figures(chance, now, link, drift)
        exited = at + int(step / speed * 1e6)
        operator = HOSTILE if hostile else "Example Mobil"
        report = {"technologies": [{"technology": now, "microseconds": exited - at}], "levels": [], "cell_changes": int(number % 55 == 54),
                  "operator": "99901", "operator_name": operator, "sim_operator": "23203", "roaming": False}
        if level:
            report["levels"] = [{"quantity": level[0], "minimum": level[1], "median": level[1] + 3, "maximum": level[1] + 7}]
        if level and level[0] == "rsrp":
            add_cells(report, now, number, level[1], channels)
        row = (drive, session, in_drive, at, exited, exited, latitude, longitude, 3.4, 171.0, course, float(speed), float(radius), now, pings,
               answered, *figures, int(in_drive % 400 not in range(60, 66)), json.dumps(report) if radio else None, delay_bins(figures[4] or 0, answered))
        db.execute(insert, row)
        at = exited
