"""The rules of KML 2.2 (OGC 07-147r2) for the elements that the export uses; any other element is a fault."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import xmltypes as types
from grammar import Element, check, local

SPACE = "http://www.opengis.net/kml/2.2"
NAME = f"{{{SPACE}}}"
WITH_ID = {"id": (types.ncname, False), "targetId": (types.ncname, False)}


def optional(*names):
    return tuple((name, 0, 1) for name in names)


def text(belongs=types.string):
    return Element(text=belongs)


def object_of(children, **attributes):
    return Element(children=children, attributes={**WITH_ID, **attributes})


FEATURE = optional("name", "visibility", "open", "address", "phoneNumber") + ((("Snippet", "snippet"), 0, 1),) + optional(
    "description") + ((("TimeSpan", "TimeStamp"), 0, 1),) + optional("styleUrl") + (("Style", 0, None), ("ExtendedData", 0, 1))
FEATURES = ((("Document", "Folder", "Placemark"), 0, None),)
GEOMETRIES = ("Point", "LineString", "LinearRing", "Polygon", "MultiGeometry")
LINE = optional("extrude", "tessellate", "altitudeMode") + (("coordinates", 1, 1),)
COLOUR = optional("color", "colorMode")
BOUNDARY = Element(children=(("LinearRing", 1, 1),))
FIELD_TYPES = {
    "string": types.string, "int": types.integer(-2**31, 2**31 - 1), "uint": types.integer(0, 2**32 - 1),
    "short": types.integer(-2**15, 2**15 - 1), "ushort": types.integer(0, 2**16 - 1), "float": types.double, "double": types.double,
    "bool": types.boolean,
}


def coordinates(content):
    """Blank-separated tuples `longitude,latitude[,altitude]`."""
    tuples = content.split()
    return bool(tuples) and all(is_place(part.split(",")) for part in tuples)


def is_place(parts):
    return len(parts) in (2, 3) and all(map(types.double, parts)) and -180 <= float(parts[0]) <= 180 and -90 <= float(parts[1]) <= 90


KINDS = {
    "kml": Element(children=((("Document", "Folder", "Placemark"), 0, 1),), attributes={"hint": (types.string, False)}),
    "Document": object_of(FEATURE + (("Schema", 0, None),) + FEATURES), "Folder": object_of(FEATURE + FEATURES),
    "Placemark": object_of(FEATURE + ((GEOMETRIES, 0, 1),)),
    "Style": object_of(optional("IconStyle", "LabelStyle", "LineStyle", "PolyStyle", "BalloonStyle", "ListStyle")),
    "IconStyle": object_of(COLOUR + optional("scale", "heading", "Icon", "hotSpot")), "LabelStyle": object_of(COLOUR + optional("scale")),
    "LineStyle": object_of(COLOUR + optional("width")), "PolyStyle": object_of(COLOUR + optional("fill", "outline")),
    "TimeSpan": object_of(optional("begin", "end")), "TimeStamp": object_of(optional("when")),
    "Schema": Element(
        children=(("SimpleField", 0, None),), attributes={"name": (types.string, False), "id": (types.ncname, False)}),
    "SimpleField": Element(
        children=optional("displayName"), attributes={"type": (types.one_of(*FIELD_TYPES), True), "name": (types.string, True)}),
    "ExtendedData": Element(children=(("Data", 0, None), ("SchemaData", 0, None))),
    "Data": object_of(optional("displayName") + (("value", 1, 1),), name=(types.string, True)),
    "SchemaData": object_of((("SimpleData", 0, None),), schemaUrl=(types.uri, True)),
    "SimpleData": Element(text=types.string, attributes={"name": (types.string, True)}),
    "Point": object_of(optional("extrude", "altitudeMode") + (("coordinates", 1, 1),)), "LineString": object_of(LINE),
    "LinearRing": object_of(LINE),
    "Polygon": object_of(
        optional("extrude", "tessellate", "altitudeMode") + (("outerBoundaryIs", 1, 1), ("innerBoundaryIs", 0, None))),
    "outerBoundaryIs": BOUNDARY, "innerBoundaryIs": BOUNDARY, "MultiGeometry": object_of(((GEOMETRIES, 1, None),)),
    "coordinates": text(coordinates), "styleUrl": text(types.uri), "color": text(lambda it: re.fullmatch(r"[0-9a-fA-F]{8}", it.strip())),
    "colorMode": text(types.one_of("normal", "random")), "scale": text(types.double), "width": text(types.double),
    "altitudeMode": text(types.one_of("clampToGround", "relativeToGround", "absolute")),
    "begin": text(types.any_date), "end": text(types.any_date), "when": text(types.any_date),
}
for flag in ("visibility", "open", "extrude", "tessellate", "fill", "outline"):
    KINDS[flag] = text(types.boolean)


def kind(_, name):
    return KINDS.get(name, text())


def faults(document):
    """The faults of a document (bytes): of its grammar, then the rules reference, id, schema, field, span, tuples and ring."""
    try:
        root = ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        yield "xml", str(error)
        return
    if local(root.tag) != (SPACE, "kml"):
        yield "root", f"the root is {root.tag}"
        return
    yield from check(root, kind, KINDS["kml"], SPACE, "")
    yield from check_identifiers(root)
    yield from check_fields(root)
    yield from check_spans(root)
    yield from check_tuples(root)


def check_identifiers(root):
    identifiers = [element.get("id") for element in root.iter() if element.get("id") is not None]
    for identifier, count in Counter(identifiers).items():
        if count > 1:
            yield "id", f"{identifier} is there {count} times"
    styles = {f"#{style.get('id')}" for style in root.iter(f"{NAME}Style")}
    for link in root.iter(f"{NAME}styleUrl"):
        if (link.text or "").strip() not in styles:
            yield "reference", f"styleUrl {link.text!r} has no target"


def check_fields(root):
    schemas = {
        f"#{schema.get('id')}": {field.get("name"): field.get("type") for field in schema.iter(f"{NAME}SimpleField")}
        for schema in root.iter(f"{NAME}Schema")}
    for data in root.iter(f"{NAME}SchemaData"):
        fields = schemas.get(data.get("schemaUrl"))
        if fields is None:
            yield "reference", f"schemaUrl {data.get('schemaUrl')!r} has no target"
            continue
        for value in data.iter(f"{NAME}SimpleData"):
            name = value.get("name")
            if name is not None and name not in fields:
                yield "schema", f"SimpleData {name!r} is not in the schema"
            elif not FIELD_TYPES.get(fields.get(name), types.string)(value.text or ""):
                yield "field", f"SimpleData {name!r} is {value.text!r}, not {fields[name]}"


def check_spans(root):
    for span in root.iter(f"{NAME}TimeSpan"):
        begin, end = (span.findtext(f"{NAME}{name}") for name in ("begin", "end"))
        # Times of one form can be compared as text.
        if begin and end and len(begin) == len(end) and begin > end:
            yield "span", f"a TimeSpan begins at {begin} and ends at {end}"


def check_tuples(root):
    for name, least, most in (("Point", 1, 1), ("LineString", 2, None), ("LinearRing", 4, None)):
        for shape in root.iter(f"{NAME}{name}"):
            content = shape.findtext(f"{NAME}coordinates")
            if content is None or not coordinates(content):
                # Faults of the grammar.
                continue
            tuples = content.split()
            if len(tuples) < least or most is not None and len(tuples) > most:
                yield "tuples", f"a {name} has {len(tuples)} tuples"
            elif name == "LinearRing" and tuples[0] != tuples[-1]:
                yield "ring", f"a LinearRing begins at {tuples[0]} and ends at {tuples[-1]}"


def places(document):
    """(id, longitude, latitude) of the fences; without the place if a fence is not a point."""
    for placemark in ElementTree.fromstring(document).iter(f"{NAME}Placemark"):
        identifier = placemark.get("id")
        if identifier is None:
            continue
        parts = (placemark.findtext(f"{NAME}Point/{NAME}coordinates") or "").strip().split(",")
        longitude, latitude = (float(part) for part in parts[:2]) if is_place(parts) else (None, None)
        yield int(identifier.removeprefix("fence-")), longitude, latitude
