"""The styles of GeoPackages as QGIS applies them: the class of each fence. Runs by itself under Debian's Python, which has QGIS's modules:
`python3 styles.py FILE.gpkg` prints a line for each fence of each layer: the layer, the number, and the labels of the rules that draw it."""

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


def is_there():
    return os.path.exists(PYTHON) and subprocess.run([PYTHON, "-c", "import qgis.core"], capture_output=True).returncode == 0


def check(program, configuration, database, connect, folder):
    """The differences, as lines; the first fences of the store become `CASES`."""
    db = connect(database)
    with db:
        for number, (values, _) in enumerate(CASES, 1):
            db.execute("UPDATE fence SET pings = ?, pings_ok = ?, submittable = ?, technology = ? WHERE id = ?", (*values, number))
    db.close()
    path = os.path.join(folder, "styles.gpkg")
    subprocess.run([program, "export", "--config", configuration, "--state", "all", "-o", path], check=True)
    shown = subprocess.run([PYTHON, os.path.abspath(__file__), path], capture_output=True, text=True, check=True,
                           env=os.environ | {"QT_QPA_PLATFORM": "offscreen"})
    found = {(layer, number): labels for layer, number, labels in map(json.loads, shown.stdout.splitlines())}
    for layer in ("fences", "fence_centres"):
        for number, (values, label) in enumerate(CASES, 1):
            if found.get((layer, number)) != [label]:
                yield f"{layer}: QGIS draws a fence of {values} as {found.get((layer, number))}, expected {label}"


def print_labels(path):
    from qgis.core import QgsApplication, QgsExpressionContextUtils, QgsRenderContext, QgsVectorLayer
    application = QgsApplication([], False)
    application.initQgis()
    for name in ("fences", "fence_centres"):
        layer = QgsVectorLayer(f"{path}|layername={name}", name, "ogr")
        renderer, context = layer.renderer().clone(), QgsRenderContext()
        context.expressionContext().appendScope(QgsExpressionContextUtils.layerScope(layer))
        renderer.startRender(context, layer.fields())
        names = {item.ruleKey(): item.label() for item in renderer.legendSymbolItems()}
        for feature in layer.getFeatures():
            context.expressionContext().setFeature(feature)
            print(json.dumps([name, feature.id(), sorted(names[key] for key in renderer.legendKeysForFeature(feature, context) if key in names)]))
        renderer.stopRender(context)
    sys.stdout.flush()
    # QGIS can crash when it ends.
    os._exit(0)


if __name__ == "__main__":
    print_labels(sys.argv[1])
