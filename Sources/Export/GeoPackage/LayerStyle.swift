import Coverage

/// A style of a layer, which QGIS applies when it opens the GeoPackage: fences and speed tests by technology, in the colours
/// of the map page.
struct LayerStyle {
  /// The layer's table.
  let table: String
  /// The name of the style, as QGIS lists it.
  let name: String
  let description: String
  /// The style in QGIS's own XML (QML), for the column `styleQML`.
  let qml: String

  /// Fences and their centres by technology, tracks in one grey.
  static let ofFences = [
    LayerStyle(
      table: "fences", name: "technology", description: "fences by radio technology",
      qml: byTechnology("fill") { fill($0) }),
    LayerStyle(
      table: "fence_centres", name: "technology", description: "fences by radio technology",
      qml: byTechnology("marker") { marker($0) }),
    LayerStyle(table: "tracks", name: "track", description: "a grey line", qml: track),
  ]

  /// Squares, as on the map page: circles are fences.
  static let ofSpeedTests = [
    LayerStyle(
      table: "speed_tests", name: "technology", description: "speed tests by radio technology",
      qml: byTechnology("marker") { marker($0, name: "square", size: "3") })
  ]

  /// A style with a symbol for each known name in the column `technology`.
  /// - Parameters:
  ///   - symbol: QGIS's type of the symbol: `fill` or `marker`.
  ///   - layer: Returns the symbol's layer for a colour.
  private static func byTechnology(_ symbol: String, layer: (String) -> String) -> String {
    var (categories, symbols) = ("", "")
    // Other names, and none, are grey.
    for (index, name) in (Technology.knownNames + [""]).enumerated() {
      let label = name.isEmpty ? "other" : name
      categories += """
        <category render="true" type="string" symbol="\(index)" value="\(name)" label="\(label)"/>

        """
      symbols += """
        <symbol type="\(symbol)" name="\(index)" alpha="0.7" clip_to_extent="1" force_rhr="0">\(layer(name.isEmpty ? grey : colour(of: Technology(name))))</symbol>

        """
    }
    return document(
      """
      <renderer-v2 type="categorizedSymbol" attr="technology" symbollevels="0" forceraster="0" enableorderby="0">
      <categories>
      \(categories)</categories>
      <symbols>
      \(symbols)</symbols>
      </renderer-v2>
      """)
  }

  private static let track = document(
    """
    <renderer-v2 type="singleSymbol" symbollevels="0" forceraster="0" enableorderby="0">
    <symbols><symbol type="line" name="0" alpha="1" clip_to_extent="1" force_rhr="0">\
    \(layer("SimpleLine", ["line_color": "64,64,64,255", "line_width": "0.4", "line_width_unit": "MM"]))</symbol></symbols>
    </renderer-v2>
    """)

  private static func document(_ content: String) -> String {
    """
    <!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
    <qgis version="3.22.0" styleCategories="Symbology">
    \(content)
    </qgis>
    """
  }

  private static func fill(_ colour: String) -> String {
    layer(
      "SimpleFill",
      ["color": colour, "style": "solid", "outline_color": colour, "outline_style": "solid", "outline_width": "0.2"])
  }

  private static func marker(_ colour: String, name: String = "circle", size: String = "1.6") -> String {
    layer(
      "SimpleMarker", ["color": colour, "name": name, "outline_color": colour, "size": size, "size_unit": "MM"])
  }

  private static func layer(_ kind: String, _ properties: KeyValuePairs<String, String>) -> String {
    let options = properties.map { "<Option type=\"QString\" name=\"\($0.key)\" value=\"\($0.value)\"/>" }.joined()
    let old = properties.map { "<prop k=\"\($0.key)\" v=\"\($0.value)\"/>" }.joined()
    return """
      <layer class="\(kind)" enabled="1" locked="0" pass="0"><Option type="Map">\(options)</Option>\(old)</layer>
      """
  }

  private static let grey = "160,160,160,255"

  /// Red, green, blue and opacity, 0 to 255.
  private static func colour(of technology: Technology) -> String {
    let entry = Legend.entry(of: technology.generation)
    let digits = Array(entry.colour.dropFirst())
    guard digits.count == 6 else { return grey }
    let parts = [0, 2, 4].map { Int(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
    return (parts + [255]).map(String.init).joined(separator: ",")
  }
}
