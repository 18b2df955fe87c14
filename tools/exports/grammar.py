"""Checks elements against a grammar: which children an element has, in which order and how often, its attributes and its text.

A fault is a pair of a rule and a message. The rules: xml, namespace, root, element, order, number, missing, attribute, type, text.
"""

from collections import namedtuple

# `children`: (name or names of a choice, least, most) in their order; a most of None is any number. `text`: the type of the text; None for
# elements that contain only elements. `attributes`: {name: (type, is it required)}. `is_open`: any elements of foreign name spaces.
Element = namedtuple("Element", "children text attributes is_open", defaults=((), None, {}, False))


def local(tag):
    """The name space and the name of a tag of ElementTree."""
    space, _, name = tag.rpartition("}")
    return space[1:], name


def check(element, kinds, kind, space, path):
    """The faults of an element and of all below it. `kinds` has the Element of each name; `kind` is the one for `element`."""
    path = f"{path}/{local(element.tag)[1]}"
    yield from check_attributes(element, kind, path)
    if kind.text is None:
        texts = [element.text] + [child.tail for child in element]
        if any(text and text.strip() for text in texts):
            yield "text", f"{path} has text between its elements"
    elif not kind.text(element.text or ""):
        yield "type", f"{path} is {(element.text or '')[:60]!r}"
    if kind.is_open:
        for child in element:
            if local(child.tag)[0] in (space, ""):
                yield "namespace", f"{path} has {child.tag}, which is not of a foreign name space"
        return
    yield from check_children(element, kinds, kind, space, path)


def check_attributes(element, kind, path):
    for name, value in element.attrib.items():
        if name.startswith("{"):
            continue
        if name not in kind.attributes:
            yield "attribute", f"{path} has the attribute {name}"
        elif not kind.attributes[name][0](value):
            yield "type", f"{path}'s {name} is {value[:60]!r}"
    for name, (_, is_required) in kind.attributes.items():
        if is_required and name not in element.attrib:
            yield "attribute", f"{path} lacks the attribute {name}"


def check_children(element, kinds, kind, space, path):
    place = 0
    counts = [0] * len(kind.children)
    for child in element:
        child_space, name = local(child.tag)
        if child_space != space:
            yield "namespace", f"{path} has {child.tag}"
            continue
        found = [i for i, (names, _, _) in enumerate(kind.children) if name == names or name in names and not isinstance(names, str)]
        if not found:
            yield "element", f"{path} has {name}"
            continue
        if found[0] < place:
            yield "order", f"{path} has {name} too late"
        place = max(place, found[0])
        counts[found[0]] += 1
        yield from check(child, kinds, kinds(path, name), space, path)
    for (names, least, most), count in zip(kind.children, counts):
        if count < least:
            yield "missing", f"{path} lacks {names}"
        if most is not None and count > most:
            yield "number", f"{path} has {names} {count} times"
