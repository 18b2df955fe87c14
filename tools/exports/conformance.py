"""Checks exported GPX and KML against the published rules of their formats, on a store with the edges of their types, without a schema.

A control is an edit of the exported document that breaks one rule: exactly that rule must complain.
"""

import json
import math
import os
import re

import gpx
import kml
import stores

FORMATS = {"gpx": (gpx, ()), "kml": (kml, ()), "kml with circles": (kml, ("--shape", "circle"))}
# Places at the edges of the formats' ranges, some only after rounding.
EDGES = (
    (0, 180), (0, -180), (0, 179.99999997), (0, -179.99999997), (90, 10), (-90, 10), (89.99999997, 179.99999999), (0, 0), (1e-9, -1e-9))
HOSTILE = "A \"<Net>\" & Söhne,\u0001\u000b ]]> \t\n\ufffe"


# ---- The store --------------------------------------------------------------------------------------------------------------

def make_store(program, connect, directory):
    """A store of one drive with two sessions, with its log."""
    configuration = stores.make_empty(program, directory)
    database = os.path.join(directory, "coverage.sqlite")
    stores.fill(database, stores.FENCES_A_SESSION + 60)
    db = connect(database)
    with db:
        for number, (latitude, longitude) in enumerate(EDGES, start=11):
            db.execute("UPDATE fence SET latitude = ?, longitude = ?, radius_m = 100 WHERE id = ?", (latitude, longitude, number))
        for number, altitude in enumerate((-431.25, 8848.86, 0, -0.001, 1e-9, 12345678.9, 1e17), start=31):
            db.execute("UPDATE fence SET altitude_m = ? WHERE id = ?", (altitude, number))
        db.execute("UPDATE fence SET technology = NULL WHERE id % 7 = 0")
        db.execute("UPDATE fence SET technology = ? WHERE id = 51", (HOSTILE,))
        db.execute("UPDATE fence SET exited_at = entered_at WHERE id = 52")
        db.execute("UPDATE fence SET rtt_sum_ns = 9223372036854775807, pings = 2147483647, pings_ok = 1 WHERE id = 53")
        db.execute("UPDATE fence SET radius_m = 0 WHERE id = 54")
        db.execute("UPDATE drive SET link = ?, log = 'edges.jsonl'", (HOSTILE,))
    db.close()
    os.makedirs(os.path.join(directory, "drives"), exist_ok=True)
    with open(os.path.join(directory, "drives", "edges.jsonl"), "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in log())
    return configuration, database


def log():
    yield {"drive": 1, "started": "2026-11-20T10:00:00.000Z", "initial_path": "cellular"}
    for second in range(1, 1600):
        fix = {"latitude": 48.2 + second * 1e-6, "longitude": 16.4, "accuracy": 3.0}
        if second % 3:
            fix |= {"altitude": 171.333 - second, "course": second % 360 + 0.99, "speed": 13.4}
        if 100 <= second < 100 + len(EDGES):
            fix["latitude"], fix["longitude"] = EDGES[second - 100]
        yield {"at": float(second), "fix": {} if second % 400 == 0 else fix}
    yield {"at": 1600.0, "stop": {}}


# ---- The checks -------------------------------------------------------------------------------------------------------------

def faults(rules, document, wanted):
    """The faults of a document; `wanted` has the place of each fence by its id."""
    found = list(rules.faults(document))
    if found and found[0][0] in ("xml", "root"):
        return found
    if not any(rule in ("type", "missing", "attribute") for rule, _ in found):
        places = list(rules.places(document))
        if {number for number, _, _ in places} != wanted.keys():
            found.append(("count", f"{len(places)} fences, {len(wanted)} expected"))
        for number, longitude, latitude in places:
            if longitude is None or number not in wanted:
                continue
            east, north = wanted[number]
            if abs(math.remainder(longitude - east, 360)) > 1e-6 or abs(latitude - north) > 1e-6:
                found.append(("place", f"fence {number} is at {longitude} {latitude}, expected {east} {north}"))
    return found


# The rule that must complain, the text to replace (its first occurrence), and the replacement.
GPX_CONTROLS = (
    ("xml", r"</gpx>", ""),
    ("root", r'xmlns="http://www.topografix.com/GPX/1/1"', 'xmlns="http://www.topografix.com/GPX/1/0"'),
    ("type", r'version="1.1"', 'version="1.0"'),
    ("attribute", r' creator="[^"]*"', ""),
    ("attribute", r' lat="[^"]*"', ""),
    ("attribute", r"<wpt ", '<wpt speed="1" '),
    ("type", r'lat="[^"]*"', 'lat="90.0000001"'),
    ("type", r'lat="[^"]*"', 'lat="-91"'),
    ("type", r'lon="[^"]*"', 'lon="180.0"'),
    ("type", r'lon="[^"]*"', 'lon="-180.1"'),
    ("type", r'lon="[^"]*"', 'lon="1.6e1"'),
    ("type", r"<ele>[^<]*", "<ele>1e5"),
    ("type", r"<ele>[^<]*", "<ele>null"),
    ("type", r"<time>[^<]*", "<time>2026-11-20 10:00:00"),
    ("type", r"<time>[^<]*", "<time>2026-02-30T10:00:00Z"),
    ("type", r"<time>[^<]*", "<time>2026-11-20T25:00:00Z"),
    ("type", r"<type>fence</type>", "<type>fence</type><sat>-1</sat>"),
    ("type", r"<type>fence</type>", "<type>fence</type><fix>4d</fix>"),
    ("type", r"<type>fence</type>", "<type>fence</type><dgpsid>1024</dgpsid>"),
    ("order", r"(<ele>[^<]*</ele>)(<time>[^<]*</time>)", r"\2\1"),
    ("order", r"(<name>[^<]*</name>)(<desc>[^<]*</desc>)", r"\2\1"),
    ("order", r"</gpx>", '<wpt lat="1" lon="1"/></gpx>'),
    ("order", r"<trkseg>", "<trkseg/><cmt>late</cmt><trkseg>"),
    ("element", r"<type>fence</type>", "<speed>1</speed>"),
    ("element", r"<name>", "<name><b/>"),
    ("number", r"<type>fence</type>", "<type>fence</type><type>fence</type>"),
    ("namespace", r"<extensions>", "<extensions><speed>1</speed>"),
    ("namespace", r"<type>fence</type>", "<cp:speed>1</cp:speed>"),
    ("text", r"<trkseg>", "<trkseg>x"),
    ("count", r"<wpt .*?</wpt>", ""),
    ("place", r'(<wpt )lat="([^"]*)" lon="([^"]*)"', r'\1lat="\3" lon="\2"'),
)
KML_CONTROLS = (
    ("xml", r"</kml>", ""),
    ("root", r"http://www.opengis.net/kml/2.2", "http://earth.google.com/kml/2.1"),
    ("order", r"(<name>[^<]*</name>)(<description>[^<]*</description>)(<TimeSpan>)", r"\2\1\3"),
    ("order", r"(<begin>[^<]*</begin>)(<end>[^<]*</end>)", r"\2\1"),
    ("order", r"(<TimeSpan>.*?</TimeSpan>)(<styleUrl>[^<]*</styleUrl>)", r"\2\1"),
    ("order", r"</Document>", '<Style id="late"/></Document>'),
    ("element", r"<Folder>", "<Folder><Point/>"),
    ("element", r"<begin>", "<when>2026-11-20T10:00:00Z</when><begin>"),
    ("number", r"<begin>[^<]*</begin>", r"\g<0>\g<0>"),
    ("missing", r"<coordinates>[^<]*</coordinates>", ""),
    ("attribute", r'<SimpleData name="[^"]*"', "<SimpleData"),
    ("attribute", r"<Folder>", '<Folder name="x">'),
    ("namespace", r"<Folder>", '<Folder><x:y xmlns:x="urn:x"/>'),
    ("text", r"<Folder>", "<Folder>x"),
    ("type", r"<color>[^<]*", "<color>red"),
    ("type", r"<begin>[^<]*", "<begin>yesterday"),
    ("type", r"<begin>[^<]*", "<begin>2026-13-01T00:00:00Z"),
    ("type", r"<coordinates>[^<]*", "<coordinates>16.4 48.2"),
    ("type", r"<coordinates>[^<]*", "<coordinates>180.1,48.2"),
    ("type", r"<coordinates>[^<]*", "<coordinates>16.4,90.1"),
    ("type", r'<Placemark id="[^"]*"', '<Placemark id="4G/LTE"'),
    ("type", r'type="int"', 'type="long"'),
    ("type", r"<tessellate>1", "<tessellate>yes"),
    ("id", r"<Folder>", '<Folder id="track">'),
    ("reference", r"<styleUrl>[^<]*", "<styleUrl>#nowhere"),
    ("reference", r'schemaUrl="[^"]*"', 'schemaUrl="#nowhere"'),
    ("schema", r'<SimpleData name="[^"]*"', '<SimpleData name="nothing"'),
    ("field", r'(<SimpleData name="pings">)[^<]*', r"\g<1>1.5"),
    ("span", r"<begin>[^<]*", "<begin>2999-01-01T00:00:00.000Z"),
    ("count", r"<Placemark .*?</Placemark>", ""),
    ("tuples", r"(<LineString>.*?<coordinates>)[^<]*", r"\g<1>16.4,48.2"),
)
POINT_CONTROLS = (
    ("tuples", r"(<Point><coordinates>)[^<]*", r"\g<1>16.4,48.2 16.5,48.2"),
    ("place", r"(<Point><coordinates>)([^,<]*),([^,<]*)", r"\1\3,\2"),
)
RING_CONTROLS = (
    ("tuples", r"(<LinearRing><coordinates>)([^ ]*) ([^ ]*)[^<]*", r"\1\2 \3 \2"),
    ("ring", r"(<LinearRing><coordinates>)[^ ]*", r"\g<1>16.4,48.2"),
    ("missing", r"<LinearRing>.*?</LinearRing>", ""),
)
CONTROLS = {
    "gpx": GPX_CONTROLS, "kml": KML_CONTROLS + POINT_CONTROLS, "kml with circles": KML_CONTROLS + RING_CONTROLS,
}


def check_controls(form, rules, document, wanted):
    """Lines about controls that no rule noticed, or the wrong rule."""
    text = document.decode()
    for rule, pattern, edit in CONTROLS[form]:
        edited, count = re.subn(pattern, edit, text, count=1, flags=re.S)
        if count == 0 or edited == text:
            yield f"{form}: no place for the control of {rule}: {pattern}"
            continue
        noticed = {name for name, _ in faults(rules, edited.encode(), wanted)}
        if noticed != {rule}:
            yield f"{form}: the control of {rule} ({pattern}) was noticed by {sorted(noticed) or 'nothing'}"


def check(program, run, connect, directory, with_controls):
    """The faults as lines; prints a line for each format."""
    configuration, database = make_store(program, connect, directory)
    db = connect(database)
    wanted = {number: (east, north) for number, east, north in db.execute("SELECT id, longitude, latitude FROM fence")}
    db.close()
    wrong = []
    for form, (rules, options) in FORMATS.items():
        path = os.path.join(directory, f"edges.{form.split()[0]}")
        run(program, "export", "--config", configuration, "--state", "all", "--format", form.split()[0], *options, "-o", path)
        with open(path, "rb") as file:
            document = file.read()
        found = faults(rules, document, wanted)
        tracks = document.count(b"<trkseg>") + document.count(b"<LineString>")
        judgement = f"{len(found)} faults" if found else "as the rules have it"
        print(f"{form}: {len(wanted)} fences and {tracks} stretches of track, {judgement}")
        wrong += [f"{form}: {rule}: {text}" for rule, text in found]
        if tracks < 2:
            wrong.append(f"{form}: no tracks to check")
        if with_controls and not found:
            missed = list(check_controls(form, rules, document, wanted))
            print(f"{form}: {len(CONTROLS[form])} broken rules, " + (f"{len(missed)} not noticed" if missed else "each noticed as its own"))
            wrong += missed
    return wrong
