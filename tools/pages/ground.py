"""Base maps of a made-up country around the fences of a store, with the standard library alone: vector tiles (MVT in gzip, in the names of
OpenMapTiles) and raster tiles (PNG), as MBTiles; and vector tiles as PMTiles."""

import gzip
import json
import math
import random
import sqlite3
import struct
import zlib

EXTENT = 4096
BUFFER = 64 / EXTENT


def box_of(database):
    """West, south, east, north of the fences of a store, in degrees."""
    db = sqlite3.connect(database)
    south, west, north, east = db.execute("SELECT min(latitude), min(longitude), max(latitude), max(longitude) FROM fence").fetchone()
    db.close()
    return west, south, east, north


def x_of(longitude):
    return longitude / 360 + 0.5


def y_of(latitude):
    return 0.5 - math.log(math.tan(math.pi / 4 + math.radians(latitude) / 2)) / (2 * math.pi)


# ---- The country: layers of (kind, tags, points from 0 to 1 over the Earth). Kinds: 1 points, 2 a line, 3 a convex polygon.

def country(box, seed=34):
    west, south, east, north = box
    left, right, top, bottom = x_of(west), x_of(east), y_of(north), y_of(south)
    wide, high, chance = right - left, bottom - top, random.Random(seed)

    def at(across, down):
        return left + wide * across, top + high * down

    def blob(across, down, reach, corners=14):
        turn = [2 * math.pi * n / corners for n in range(corners)]
        return [(at(across, down)[0] + reach * wide * math.cos(a), at(across, down)[1] + reach * wide * math.sin(a)) for a in turn]

    def way(points):
        return [at(a + chance.gauss(0, 0.004), d + chance.gauss(0, 0.004)) for a, d in points]

    layers = {"landcover": [], "landuse": [], "water": [], "waterway": [], "transportation": [], "boundary": [], "place": [], "power": []}
    for _ in range(9):
        layers["landcover"].append((3, {"class": "wood"}, blob(chance.uniform(-0.4, 1.4), chance.uniform(-0.4, 1.4), chance.uniform(0.04, 0.14))))
    for _ in range(5):
        layers["landuse"].append((3, {"class": "residential"}, blob(chance.random(), chance.random(), chance.uniform(0.05, 0.12))))
    layers["water"].append((3, {"class": "lake"}, blob(0.75, 0.3, 0.13, 24)))
    layers["waterway"].append((2, {"class": "river"}, way([(-0.5 + n * 0.1, 0.2 + 0.3 * math.sin(n / 2.2)) for n in range(21)])))
    layers["transportation"].append((2, {"class": "motorway"}, way([(-0.6 + n * 0.1, 1.2 - n * 0.07) for n in range(23)])))
    layers["transportation"].append((2, {"class": "rail"}, way([(-0.6 + n * 0.1, 0.1 + n * 0.05) for n in range(23)])))
    for n in range(-4, 14):
        kind = "primary" if n % 4 == 0 else "minor"
        layers["transportation"].append((2, {"class": kind}, way([(n / 9, -0.4 + m / 8) for m in range(15)])))
        layers["transportation"].append((2, {"class": kind}, way([(-0.4 + m / 8, n / 9) for m in range(15)])))
    layers["boundary"].append((2, {"admin_level": 4, "maritime": 0}, way([(0.55 + 0.1 * math.sin(n / 3), -0.5 + n * 0.1) for n in range(21)])))
    layers["power"].append((2, {"class": "line"}, [at(-0.3, 0.9), at(1.3, 0.6)]))
    names = ["Example Mitte", "Neuprobe", "Messdorf", "Obertal", "Untertal", "Seeheim", "Waldau", "<b>Ort</b>"]
    for n, name in enumerate(names):
        layers["place"].append((1, {"class": "city" if n == 0 else "town" if n < 3 else "village", "name": name}, [at(0.12 + 0.8 * chance.random(), 0.1 + 0.8 * chance.random())]))
    return layers


# ---- Tiles

def inside(polygon, low, high):
    """The part of a convex polygon within a square (Sutherland and Hodgman)."""
    for axis in (0, 1):
        for limit, sign in ((low, 1), (high, -1)):
            out = []
            for a, b in zip(polygon, polygon[1:] + polygon[:1]):
                da, db = (a[axis] - limit) * sign, (b[axis] - limit) * sign
                if da >= 0:
                    out.append(a)
                if (da < 0) != (db < 0):
                    share = da / (da - db)
                    out.append((a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share))
            polygon = out
            if not polygon:
                return []
    return polygon


def stretches(line, low, high):
    """The parts of a line whose segments may touch a square."""
    part = []
    for a, b in zip(line, line[1:]):
        if all(max(a[axis], b[axis]) >= low and min(a[axis], b[axis]) <= high for axis in (0, 1)):
            part = part or [a]
            part.append(b)
        elif part:
            yield part
            part = []
    if part:
        yield part


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def geometry(kind, lines):
    out, last = bytearray(), (0, 0)
    for line in lines:
        points = [(round(x * EXTENT), round(y * EXTENT)) for x, y in line]
        for place, point in enumerate(points):
            if place < 2:
                out += varint((1 if place == 0 else 2) | (1 if place == 0 else len(points) - 1) << 3)
            for step in (point[0] - last[0], point[1] - last[1]):
                out += varint(step * 2 if step >= 0 else -step * 2 - 1)
            last = point
        if kind == 3:
            out += varint(7 | 1 << 3)
    return bytes(out)


def tile(layers, zoom, column, row):
    """The vector tile in gzip; None where nothing is."""
    scale, whole = 1 << zoom, b""
    for name, features in layers.items():
        keys, values, content = [], [], b""
        for kind, tags, points in features:
            local = [(x * scale - column, y * scale - row) for x, y in points]
            if kind == 1:
                lines = [local] if all(0 <= part < 1 for part in local[0]) else []
            elif kind == 2:
                lines = list(stretches(local, -BUFFER, 1 + BUFFER))
            else:
                lines = [part for part in [inside(local, -BUFFER, 1 + BUFFER)] if len(part) > 2]
            if not lines:
                continue
            numbers = b""
            for key, value in tags.items():
                keys += [] if key in keys else [key]
                values += [] if value in values else [value]
                numbers += varint(keys.index(key)) + varint(values.index(value))
            content += field(2, field(2, numbers) + varint(3 << 3) + varint(kind) + field(4, geometry(kind, lines)))
        if content:
            for key in keys:
                content += field(3, key.encode())
            for value in values:
                content += field(4, field(1, value.encode()) if isinstance(value, str) else varint(5 << 3) + varint(value))
            whole += field(3, varint(15 << 3) + varint(2) + field(1, name.encode()) + content + varint(5 << 3) + varint(EXTENT))
    return gzip.compress(whole, mtime=0) if whole else None


def picture(zoom, column, row, side=256):
    """A PNG whose colour and edge show which tile it is."""
    ground, edge = bytes((223 - zoom * 3 % 60, 233, 216 - (column + row) % 2 * 18)), b"\x9a\xb0\x8c"
    rows = b"".join(b"\x00" + (edge * side if y == 0 else edge + ground * (side - 1)) for y in range(side))

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def tiles(box, zooms, make):
    """Number, row and column with the content, for the tiles of a box and a third of it around."""
    west, south, east, north = box
    left, right, top, bottom = x_of(west), x_of(east), y_of(north), y_of(south)
    pad_x, pad_y = (right - left) / 3, (bottom - top) / 3
    for zoom in zooms:
        scale = 1 << zoom
        for row in range(int((top - pad_y) * scale), int((bottom + pad_y) * scale) + 1):
            for column in range(int((left - pad_x) * scale), int((right + pad_x) * scale) + 1):
                content = make(zoom, column, row)
                if content:
                    yield zoom, column, row, content


# ---- Files

def write_mbtiles(path, kind, box, zooms, make, attribution="<a href='https://example.test'>© Example &amp; Co</a>"):
    db = sqlite3.connect(path)
    with db:
        db.execute("CREATE TABLE metadata (name text, value text)")
        db.execute("CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob)")
        db.execute("CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)")
        db.executemany("INSERT INTO metadata VALUES (?, ?)", [("name", "example"), ("format", kind), ("attribution", attribution)])
        # Rows count from the south.
        db.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)",
                       ((zoom, column, (1 << zoom) - 1 - row, content) for zoom, column, row, content in tiles(box, zooms, make)))
    db.close()
    return path


def number_of(zoom, column, row):
    """The number of a tile on the Hilbert curve (PMTiles spec v3, 4.1)."""
    number, x, y = (4 ** zoom - 1) // 3, column, row
    for level in range(zoom - 1, -1, -1):
        half = 1 << level
        east, south = bool(x & half), bool(y & half)
        number += ((3 if east else 0) ^ (1 if south else 0)) << 2 * level
        x, y = x & (half - 1), y & (half - 1)
        if not south:
            x, y = (half - 1 - y, half - 1 - x) if east else (y, x)
    return number


def write_pmtiles(path, box, zooms, make, attribution="© Example"):
    """With leaf directories of 50 tiles each."""
    found = sorted((number_of(*key), content) for *key, content in tiles(box, zooms, make))
    data, entries = b"", []
    for number, content in found:
        entries.append((number, len(data), len(content), 1))
        data += content

    def directory(entries):
        numbers = [entry[0] for entry in entries]
        steps = [numbers[0]] + [b - a for a, b in zip(numbers, numbers[1:])]
        columns = [steps, [entry[3] for entry in entries], [entry[2] for entry in entries], [entry[1] + 1 for entry in entries]]
        return gzip.compress(varint(len(entries)) + b"".join(varint(value) for column in columns for value in column))

    leaves, root = b"", []
    for start in range(0, len(entries), 50):
        leaf = directory(entries[start:start + 50])
        root.append((entries[start][0], len(leaves), len(leaf), 0))
        leaves += leaf
    parts = [directory(root), gzip.compress(json.dumps({"attribution": attribution}).encode()), leaves, data]
    at, sections = 127, []
    for part in parts:
        sections += [at, len(part)]
        at += len(part)
    header = (b"PMTiles\x03" + struct.pack("<8Q", *sections) + struct.pack("<3Q", len(entries), len(entries), len(entries))
              + bytes([1, 2, 2, 1, min(zooms), max(zooms)]) + bytes(25))
    with open(path, "wb") as file:
        file.write(header + b"".join(parts))
    return path


def vector(box):
    layers = country(box)
    return lambda zoom, column, row: tile(layers, zoom, column, row)
