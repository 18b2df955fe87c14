"""Reads the provenance of an export back from each format, and compares it with the store and with the drive logs (docs/export.md)."""

import hashlib
import json
import os
import re
import sqlite3
import xml.etree.ElementTree as ElementTree

STANDARD = "urn:x-coverage-probe:provenance:1"
LOG = "first.jsonl"
EQUIPMENT = {"manufacturer": "=A & <B>", "model": "M", "sim": "0123456789abcdef", "apn": "internet", "bearer": "default", "ip_family": "ipv4"}
HEADER = {
    "drive": 1, "started": "2026-11-20T10:00:00.000Z", "initial_path": "cellular",
    "parameters": {"minimum_radius": 30, "accuracy_limit": 40}, "pings": {"interval": 0.1, "timeout": 1.0}}


def make_logs(directory, db):
    """Three drives: the first one has a log, the second one names a log that is gone, the third one has none."""
    os.makedirs(os.path.join(directory, "drives"), exist_ok=True)
    with open(os.path.join(directory, "drives", LOG), "w", encoding="utf-8") as file:
        file.write(json.dumps(HEADER) + "\n" + '{"at":1.0,"fix":{}}\n' * 5000)
    # A session of its own each.
    for drive, session in ((2, 2), (3, 3)):
        db.execute(
            "INSERT INTO drive (id, started_at, ended_at, stop_reason, link) SELECT ?1, started_at + ?1, ended_at, stop_reason, link FROM drive"
            " WHERE id = 1 ON CONFLICT DO NOTHING", (drive,))
        db.execute("UPDATE session SET drive_id = ? WHERE id = ?", (drive, session))
        db.execute("UPDATE fence SET drive_id = ? WHERE session_id = ?", (drive, session))
    db.execute("UPDATE drive SET log = ? WHERE id = 1", (LOG,))
    db.execute("UPDATE drive SET log = 'gone.jsonl' WHERE id = 2")


def plant(directory):
    """The control: one byte of the log is another one."""
    with open(os.path.join(directory, "drives", LOG), "r+b") as file:
        file.seek(200)
        byte = file.read(1)
        file.seek(200)
        file.write(bytes([byte[0] ^ 1]))


def read(form, path, run):
    """The provenance in the form's own place, or in the file beside it."""
    if form == "gpkg":
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        text, = database.execute(
            "SELECT metadata FROM gpkg_metadata JOIN gpkg_metadata_reference ON md_file_id = id"
            " WHERE reference_scope = 'geopackage' AND mime_type = 'application/json' AND md_standard_uri = ?", (STANDARD,)).fetchone()
        # GDAL shows it, too.
        assert text.split('"drives"')[0] in run("ogrinfo", "-ro", "-so", path), "GDAL does not show the metadata"
        return json.loads(text)
    if form in ("csv", "jsonl", "geojsonseq"):
        with open(path + ".provenance.json", encoding="utf-8") as file:
            provenance = json.load(file)
        with open(path, "rb") as file:
            content = file.read()
        wanted = {"name": os.path.basename(path), "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        assert provenance.pop("file") == wanted, "the file beside the export is of another export"
        return provenance
    with open(path, "rb") as file:
        content = file.read()
    if form == "geojson":
        return json.loads(content)["provenance"]
    if form == "html":
        return json.loads(re.search(rb'<script type="application/json" id="provenance">(.*?)</script>', content)[1])
    place = {
        "gpx": "{http://www.topografix.com/GPX/1/1}metadata/{http://www.topografix.com/GPX/1/1}extensions/{urn:x-coverage-probe:gpx:1}provenance",
        "kml": "{0}Document/{0}ExtendedData/{0}Data[@name='provenance']/{0}value".replace("{0}", "{http://www.opengis.net/kml/2.2}"),
    }[form]
    return json.loads(ElementTree.fromstring(content).findtext(place))


def differences(form, path, directory, database, run):
    """What a format's provenance has wrong, as lines."""
    try:
        found = read(form, path, run)
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError, OSError, sqlite3.Error) as error:
        return [f"{form}: no provenance can be read: {error!r}"]
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    (store,), = db.execute("SELECT uuid FROM identity")
    with open(os.path.join(directory, "drives", LOG), "rb") as file:
        log = file.read()
    of_log = {
        1: {"name": LOG, "bytes": len(log), "sha256": hashlib.sha256(log).hexdigest()},
        2: {"name": "gone.jsonl", "missing": "the log is no longer there"}}
    drives = [
        (drive, fences, of_log.get(drive, {"missing": "the drive has no log"}))
        for drive, fences in db.execute("SELECT drive_id, count(*) FROM fence GROUP BY 1 ORDER BY 1")]
    lines = []
    for name, got, wanted in (
            ("store_id", found.get("store_id"), store), ("filters", found.get("filters"), {"state": "settled"}),
            ("drives", [(drive["drive"], drive["fences"], drive["log"]) for drive in found.get("drives", [])], drives),
            ("settings", [drive.get("settings", {}).get("parameters", {}).get("minimum_radius") for drive in found.get("drives", [])],
             [30] + [None] * (len(drives) - 1)),
            ("equipment", [drive.get("equipment") for drive in found.get("drives", [])],
             [None, [EQUIPMENT]] + [None] * (len(drives) - 2))):
        if got != wanted:
            lines.append(f"{form}: provenance has {name} {got}, expected {wanted}")
    return lines
