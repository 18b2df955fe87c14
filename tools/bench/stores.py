"""Stores of made-up drives, filled without the program: each row has its checksum (docs/store.md)."""

import math
import os
import sqlite3
import struct
import subprocess

START_US = 1_795_168_800_000_000
FENCES_A_SESSION = 500
SESSIONS_A_DRIVE = 4
FENCE_US = 3_000_000


def make_empty(program, directory, settings=""):
    """Lets the program make an empty store in `directory`, and returns the path of its configuration."""
    configuration = os.path.join(directory, "probe.yaml")
    with open(configuration, "w") as file:
        file.write(f'state-directory: {directory}\ncontrol-server: {{ url: "http://127.0.0.1:1" }}\n{settings}')
    # There is no session to forget.
    subprocess.run([program, "sessions", "forget", "1", "--config", configuration], stderr=subprocess.DEVNULL)
    return configuration


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0xC96C5795D7870F42 if byte & 1 else byte >> 1
        table.append(byte)
    return table


TABLE = crc_table()


def encoded(value):
    """A column's value as the checksum includes it (RowChecksum.swift)."""
    if value is None:
        return b"\0"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return b"\1" + (value & 2**64 - 1).to_bytes(8, "big")
    if isinstance(value, float):
        return b"\2" + struct.pack(">d", value)
    tag, data = (b"\3", value.encode()) if isinstance(value, str) else (b"\4", bytes(value))
    return tag + len(data).to_bytes(8, "big") + data


def checksum(*values):
    state = 2**64 - 1
    for byte in b"".join(map(encoded, values)):
        state = TABLE[(state ^ byte) & 255] ^ state >> 8
    state ^= 2**64 - 1
    return state - 2**64 if state >= 2**63 else state


def fill(database, fences, start_us=START_US, is_sent=lambda session: session % 2 == 0):
    """Drives through a loop of roads at 13.4 m/s, a fence each 3 s; `is_sent` decides for a session by its number from 0."""
    db = sqlite3.connect(database)
    db.create_function("checksum_of_row", -1, checksum, deterministic=True)
    db.execute("PRAGMA synchronous = OFF")
    with db:
        for number in range(fences):
            session_number, in_session = divmod(number, FENCES_A_SESSION)
            at = start_us + number * FENCE_US
            if session_number % SESSIONS_A_DRIVE == 0 and in_session == 0:
                drive = db.execute(
                    "INSERT INTO drive (started_at, ended_at, stop_reason) VALUES (?, ?, 'user')",
                    (at, at + FENCE_US * FENCES_A_SESSION * SESSIONS_A_DRIVE)).lastrowid
            if in_session == 0:
                test = f"00000000-0000-4000-8000-{session_number:012d}"
                session = db.execute(
                    "INSERT INTO session (drive_id, number, test_uuid, started_at, anchor_at, finalized_at)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (drive, session_number % SESSIONS_A_DRIVE, test, at, at + 6_000_123, at + FENCE_US * FENCES_A_SESSION)).lastrowid
                batch = db.execute(
                    "INSERT INTO batch (session_id, test_uuid, anchor_at, state) VALUES (?, ?, ?, ?)",
                    (session, test, at + 6_000_123, "submitted" if is_sent(session_number) else "waiting")).lastrowid
            angle = number / 700
            rtt = 31_234_567 + number % 977 * 10_007
            db.execute(
                "INSERT INTO fence (drive_id, session_id, number, entered_at, exited_at, last_seen_at, latitude, longitude, accuracy_m,"
                " altitude_m, course_deg, speed_mps, radius_m, technology, pings, pings_ok, rtt_sum_ns, pings_late, pings_duplicate,"
                " rtt_min_ns, rtt_p50_ns, rtt_p95_ns, rtt_max_ns, ipdv_mean_ns, rtt_kernel_mean_ns, submittable, submitted_at, batch_id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, 1, ?, ?)",
                (drive, session, number % (FENCES_A_SESSION * SESSIONS_A_DRIVE), at, at + FENCE_US, at + FENCE_US,
                 48.2 + 0.3 * math.sin(angle) + number * 1e-7, 16.4 + 0.4 * math.cos(angle * 1.3), 2.4691358024691357, 171.3 + number % 7 / 3,
                 number % 360 + 0.1, 13.412345, 14.938271604938271, ("4G/LTE", "5G/NRNSA", "2G/EDGE")[number // 900 % 3],
                 30, 30 - number % 5 // 4, rtt * 29, rtt - 5_000_001, rtt, rtt + 9_000_002, rtt + 20_000_003, 1_234_567, rtt + 3,
                 at + 9_000_000 if is_sent(session_number) else None, batch))
    db.close()
