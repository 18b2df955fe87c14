"""The rules of GPX 1.1, from its published description: http://www.topografix.com/GPX/1/1/"""

import xml.etree.ElementTree as ElementTree

import xmltypes as types
from grammar import Element, check, local

SPACE = "http://www.topografix.com/GPX/1/1"

LATITUDE = types.within(-90, 90)
# 180 degrees east is written as -180.
LONGITUDE = types.within(-180, 180, with_high=False)
DEGREES = types.within(0, 360, with_high=False)


def optional(*names):
    return tuple((name, 0, 1) for name in names)


def text(belongs=types.string):
    return Element(text=belongs)


LINKS = (("link", 0, None),)
POINT = Element(
    children=optional("ele", "time", "magvar", "geoidheight", "name", "cmt", "desc", "src") + LINKS + optional(
        "sym", "type", "fix", "sat", "hdop", "vdop", "pdop", "ageofdgpsdata", "dgpsid", "extensions"),
    attributes={"lat": (LATITUDE, True), "lon": (LONGITUDE, True)})
NAMED = optional("name", "cmt", "desc", "src") + LINKS + optional("number", "type", "extensions")

KINDS = {
    "gpx": Element(
        children=optional("metadata") + (("wpt", 0, None), ("rte", 0, None), ("trk", 0, None)) + optional("extensions"),
        attributes={"version": (types.one_of("1.1"), True), "creator": (types.string, True)}),
    "metadata": Element(
        children=optional("name", "desc", "author", "copyright") + LINKS + optional("time", "keywords", "bounds", "extensions")),
    "wpt": POINT, "rtept": POINT, "trkpt": POINT,
    "rte": Element(children=NAMED + (("rtept", 0, None),)), "trk": Element(children=NAMED + (("trkseg", 0, None),)),
    "trkseg": Element(children=(("trkpt", 0, None), ("extensions", 0, 1))),
    "extensions": Element(is_open=True),
    "link": Element(children=optional("text", "type"), attributes={"href": (types.uri, True)}),
    "author": Element(children=optional("name", "email", "link")),
    "email": Element(attributes={"id": (types.string, True), "domain": (types.string, True)}),
    "copyright": Element(children=optional("year", "license"), attributes={"author": (types.string, True)}),
    "bounds": Element(attributes={
        "minlat": (LATITUDE, True), "minlon": (LONGITUDE, True), "maxlat": (LATITUDE, True), "maxlon": (LONGITUDE, True)}),
    "ele": text(types.decimal), "time": text(types.date_time), "magvar": text(DEGREES), "geoidheight": text(types.decimal),
    "sat": text(types.integer(0)), "number": text(types.integer(0)), "dgpsid": text(types.integer(0, 1023)),
    "fix": text(types.one_of("none", "2d", "3d", "dgps", "pps")), "year": text(types.any_date), "license": text(types.uri),
}
for decimal in ("hdop", "vdop", "pdop", "ageofdgpsdata"):
    KINDS[decimal] = text(types.decimal)


def kind(_, name):
    return KINDS.get(name, text())


def faults(document):
    """The faults of a document (bytes)."""
    try:
        root = ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        yield "xml", str(error)
        return
    if local(root.tag) != (SPACE, "gpx"):
        yield "root", f"the root is {root.tag}"
        return
    yield from check(root, kind, KINDS["gpx"], SPACE, "")


def places(document, fence="{urn:x-coverage-probe:gpx:1}id"):
    """(id, longitude, latitude) of the fences."""
    for point in ElementTree.fromstring(document).iter(f"{{{SPACE}}}wpt"):
        number = point.findtext(f"{{{SPACE}}}extensions/{fence}")
        if number is not None:
            yield int(float(number)), float(point.get("lon")), float(point.get("lat"))
