"""The styles of GeoPackages as QGIS applies them: the class of each fence, the names of columns, and map tips. Runs by itself under Debian's Python,
which has QGIS's modules: `python3 styles.py FILE.gpkg` prints a line for each fence of each layer and each of its styles: layer, style (empty: the one that
QGIS applies by itself), number, and the labels of the rules that draw it; and for each layer its names of columns and the map tip of its first fence."""

import json
import os
import subprocess
import sys

PYTHON = "/usr/bin/python3"
# pings, pings_ok, submittable, technology: the label that docs/map.md gives such a fence.
CASES = (
    ((30, 30, 1, "4G/LTE"), "4G"), ((30, 1, 1, "2G/EDGE"), "2G"), ((30, 30, 1, "3G/UMTS"), "3G"), ((9, 9, 1, "5G/NR"), "5G SA"),
    ((9, 9, 1, "5G/NRNSA"), "5G NSA"), ((30, 0, 1, "4G/LTE"), "no answer"), ((30, 0, 1, "5G/NR"), "no answer"), ((30, 0, 1, None), "no answer"),
    ((9, 9, 1, None), "unknown technology"), ((9, 9, 1, "6G"), "unknown technology"), ((0, 0, 1, "4G/LTE"), "not measured"),
    ((0, 0, 0, "4G/LTE"), "not measured, Wi-Fi, or pings not sent"), ((8, 0, 0, "4G/LTE"), "not measured, Wi-Fi, or pings not sent"),
    ((8, 5, 0, "4G/LTE"), "4G, touched by Wi-Fi"), ((8, 5, 0, None), "unknown technology, touched by Wi-Fi"))


# pings, pings_ok, submittable, median in ms, RSRP in dBm: the labels by delay, loss and signal.
FIGURES = (
    ((30, 30, 1, 12, -79.9), ("under 30 ms", "no loss", "-80 dBm or more")), ((100, 98, 1, 30, -80.1), ("under 60 ms", "up to 2 %", "-90 dBm or more")),
    ((100, 97, 1, 299.9, -110), ("under 300 ms", "up to 10 %", "-110 dBm or more")), ((100, 89, 1, 300, -110.1), ("300 ms or more", "more", "less")),
    ((30, 0, 1, None, None), ("no answer", "all lost", "unknown")), ((0, 0, 1, None, -70), ("not measured",) * 3),
    ((8, 5, 0, 70, -95), ("under 120 ms, touched by Wi-Fi", "more, touched by Wi-Fi", "-100 dBm or more, touched by Wi-Fi")))


def is_there():
    return os.path.exists(PYTHON) and subprocess.run([PYTHON, "-c", "import qgis.core"], capture_output=True).returncode == 0


def check(program, configuration, database, connect, folder):
    """The differences, as lines; the first fences of the store become `CASES`."""
    db = connect(database)
    with db:
        for number, (values, _) in enumerate(CASES, 1):
            db.execute("UPDATE fence SET pings = ?, pings_ok = ?, submittable = ?, technology = ? WHERE id = ?", (*values, number))
        for number, ((pings, answered, submittable, median, level), _) in enumerate(FIGURES, len(CASES) + 1):
            levels = [] if level is None else [{"quantity": "rsrp", "minimum": level, "median": level, "maximum": level}]
            radio = json.dumps({"technologies": [], "levels": levels, "cell_changes": 0, "roaming": False})
            nanoseconds = median and int(median * 1e6)
            db.execute("UPDATE fence SET pings = ?, pings_ok = ?, submittable = ?, rtt_p50_ns = ?, rtt_min_ns = ?, rtt_p95_ns = ?, rtt_max_ns = ?, radio = ?, "
                       "technology = '4G/LTE' WHERE id = ?", (pings, answered, submittable, *[nanoseconds] * 4, radio, number))
    db.close()
    path = os.path.join(folder, "styles.gpkg")
    subprocess.run([program, "export", "--config", configuration, "--state", "all", "-o", path], check=True)
    shown = subprocess.run([PYTHON, os.path.abspath(__file__), path], capture_output=True, text=True, check=True,
                           env=os.environ | {"QT_QPA_PLATFORM": "offscreen"})
    found = {tuple(key): value for *key, value in map(json.loads, shown.stdout.splitlines())}
    for layer in ("fences", "fence_centres"):
        expected = [("", number, values, label) for number, (values, label) in enumerate(CASES, 1)]
        for number, (values, labels) in enumerate(FIGURES, len(CASES) + 1):
            expected += [(style, number, values, label) for style, label in zip(("delay", "loss", "signal"), labels)]
        for style, number, values, label in expected:
            if found.get((layer, style, number)) != [label]:
                yield f"{layer}: QGIS draws a fence of {values} by {style or 'technology'} as {found.get((layer, style, number))}, expected {label}"
        names, tip = found.get((layer, "names")) or {}, found.get((layer, "tip")) or ""
        if names.get("p50_ping_ms") != "Median delay (ms)" or not all(names.values()):
            yield f"{layer}: QGIS shows the columns as {names}"
        if not tip.startswith("<b>4G/LTE</b><br>median ") or "of 30 pings lost" not in tip:
            yield f"{layer}: QGIS's map tip is {tip!r}"


def print_classes(name, style, layer, context):
    renderer = layer.renderer().clone()
    renderer.startRender(context, layer.fields())
    names = {item.ruleKey(): item.label() for item in renderer.legendSymbolItems()}
    for feature in layer.getFeatures():
        context.expressionContext().setFeature(feature)
        print(json.dumps([name, style, feature.id(), sorted(names[key] for key in renderer.legendKeysForFeature(feature, context) if key in names)]))
    renderer.stopRender(context)


def print_labels(path):
    from qgis.core import QgsApplication, QgsExpression, QgsExpressionContextUtils, QgsRenderContext, QgsVectorLayer
    from qgis.PyQt.QtXml import QDomDocument
    application = QgsApplication([], False)
    application.initQgis()
    for name in ("fences", "fence_centres"):
        layer = QgsVectorLayer(f"{path}|layername={name}", name, "ogr")
        context = QgsRenderContext()
        context.expressionContext().appendScope(QgsExpressionContextUtils.layerScope(layer))
        context.expressionContext().setFeature(next(layer.getFeatures()))
        columns = [field.name() for field in layer.fields() if field.name() != "fid"]
        print(json.dumps([name, "names", {column: layer.attributeAlias(layer.fields().indexOf(column)) for column in columns}]))
        print(json.dumps([name, "tip", QgsExpression.replaceExpressionText(layer.mapTipTemplate(), context.expressionContext())]))
        print_classes(name, "", layer, context)
        _, ids, styles, _, _ = layer.listStylesInDatabase()
        for number, style in zip(ids, styles):
            if style not in ("delay", "loss", "signal"):
                continue
            document = QDomDocument()
            document.setContent(layer.getStyleFromDatabase(number)[0])
            is_good, why = layer.importNamedStyle(document)
            assert is_good, why
            print_classes(name, style, layer, context)
    sys.stdout.flush()
    # QGIS can crash when it ends.
    os._exit(0)


if __name__ == "__main__":
    print_labels(sys.argv[1])
