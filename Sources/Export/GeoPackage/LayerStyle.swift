import Coverage

/// A style of a layer for QGIS, with names of its fields for people and its map tips: fences and speed tests by technology, in the
/// classes and colours of the map page. ``FigureStyle`` has those by delay, loss and signal.
struct LayerStyle {
  let table: String
  /// The name of the style, as QGIS lists it.
  let name: String
  let description: String
  /// Whether QGIS applies it when it opens the layer; the others are in the layer's list of styles.
  var isDefault = true
  /// The style in QGIS's own XML (QML), for the column `styleQML`.
  let qml: String

  /// Fences and their centres by class, tracks in one grey.
  static let ofFences = [
    LayerStyle(
      table: "fences", name: "technology", description: "fences by radio technology",
      qml: byRules(fenceRules, symbol: "fill", of: .fences) { fill($0, isWifi: $1) }),
    LayerStyle(
      table: "fence_centres", name: "technology", description: "fences by radio technology",
      qml: byRules(fenceRules, symbol: "marker", of: .fences) { marker($0, isWifi: $1) }),
    LayerStyle(table: "tracks", name: "track", description: "a grey line", qml: track),
  ]

  /// Which features have the symbol of a class.
  struct Rule {
    let entry: Legend.Entry
    var isWifi = false
    /// In QGIS's expressions (https://docs.qgis.org, "Expressions"), which are those of SQL here.
    let filter: String
  }

  /// Fences that Wi-Fi touched have rules of their own in each class. The filters are ``Legend/entry(of:)-(Fence)``.
  private static let fenceRules = [false, true].flatMap { isWifi in
    let wifi = isWifi ? "NOT \"submittable\"" : "\"submittable\""
    let silent = isWifi ? "\"pings_ok\" = 0" : "\"pings\" = 0"
    let answered = technologyRules.map {
      Rule(entry: $0.entry, isWifi: isWifi, filter: "\(wifi) AND \"pings_ok\" > 0 AND \($0.filter)")
    }
    let lost = Rule(entry: Legend.noAnswer, filter: "\(wifi) AND \"pings\" > 0 AND \"pings_ok\" = 0")
    return answered + (isWifi ? [] : [lost]) + [
      Rule(entry: Legend.notMeasured, isWifi: isWifi, filter: "\(wifi) AND \(silent)")
    ]
  }

  /// The classes of answered pings and of speed tests.
  static let technologyRules: [Rule] = {
    func names(_ entry: Legend.Entry) -> String {
      LayerFields.list(Technology.knownNames.filter { Legend.entry(of: Technology($0).generation) == entry })
    }
    let known = Legend.classes.filter { ![Legend.unknownTechnology, Legend.noAnswer, Legend.notMeasured].contains($0) }
    let rules = known.map { Rule(entry: $0, filter: "\"technology\" IN (\(names($0)))") }
    let others = known.map(names).joined(separator: ", ")
    return rules + [
      Rule(entry: Legend.unknownTechnology, filter: "(\"technology\" IS NULL OR \"technology\" NOT IN (\(others)))")
    ]
  }()

  /// A style with a symbol for each rule.
  /// - Parameters:
  ///   - symbol: QGIS's type of the symbol: `fill` or `marker`.
  ///   - fields: The fields of the layer.
  ///   - layer: Returns the symbol's layer for a class, and for whether Wi-Fi touched the fences.
  static func byRules(
    _ all: [Rule], symbol: String, of fields: LayerFields, layer: (Legend.Entry, Bool) -> String
  ) -> String {
    var (rules, symbols) = ("", "")
    for (index, rule) in all.enumerated() {
      let label = rule.entry.label + (rule.isWifi ? ", \(rule.entry.isHollow ? Legend.excluded : Legend.wifi)" : "")
      rules += """
        <rule key="{\(index)}" symbol="\(index)" filter="\(Markup.escaped(rule.filter))" label="\(Markup.escaped(label))"/>

        """
      symbols += """
        <symbol type="\(symbol)" name="\(index)" alpha="0.7" clip_to_extent="1" force_rhr="0">\(layer(rule.entry, rule.isWifi))</symbol>

        """
    }
    return document(
      """
      <renderer-v2 type="RuleRenderer" symbollevels="0" forceraster="0" enableorderby="0">
      <rules key="{all}">
      \(rules)</rules>
      <symbols>
      \(symbols)</symbols>
      </renderer-v2>
      """, fields)
  }

  private static let track = document(
    """
    <renderer-v2 type="singleSymbol" symbollevels="0" forceraster="0" enableorderby="0">
    <symbols><symbol type="line" name="0" alpha="1" clip_to_extent="1" force_rhr="0">\
    \(layer("SimpleLine", ["line_color": "64,64,64,255", "line_width": "0.4", "line_width_unit": "MM"]))</symbol></symbols>
    </renderer-v2>
    """, .tracks)

  private static func document(_ content: String, _ fields: LayerFields) -> String {
    """
    <!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
    <qgis version="3.22.0" styleCategories="Symbology|Fields|MapTips">
    \(content)
    \(fields.qml)
    </qgis>
    """
  }

  /// Fences that Wi-Fi touched have a dashed outline, those that were not measured a thin one.
  static func fill(_ entry: Legend.Entry, isWifi: Bool) -> String {
    let colour = rgba(entry.colour)
    return layer(
      "SimpleFill",
      [
        "color": colour, "style": isWifi || entry.isHollow ? "no" : "solid", "outline_color": colour,
        "outline_style": isWifi ? "dash" : "solid", "outline_width": isWifi ? "0.5" : "0.2",
      ])
  }

  /// Hollow as ``fill(_:isWifi:)``; a fence that Wi-Fi touched is a cross.
  static func marker(
    _ entry: Legend.Entry, isWifi: Bool, name: String = "circle", size: String = "1.6"
  ) -> String {
    let colour = rgba(entry.colour)
    return layer(
      "SimpleMarker",
      [
        "color": entry.isHollow ? "0,0,0,0" : colour, "name": isWifi ? "cross2" : name, "outline_color": colour,
        "outline_width": isWifi ? "0.4" : "0.2", "size": size, "size_unit": "MM",
      ])
  }

  private static func layer(_ kind: String, _ properties: KeyValuePairs<String, String>) -> String {
    let options = properties.map { "<Option type=\"QString\" name=\"\($0.key)\" value=\"\($0.value)\"/>" }.joined()
    let old = properties.map { "<prop k=\"\($0.key)\" v=\"\($0.value)\"/>" }.joined()
    return """
      <layer class="\(kind)" enabled="1" locked="0" pass="0"><Option type="Map">\(options)</Option>\(old)</layer>
      """
  }

  /// Red, green, blue and opacity, 0 to 255, of `#RRGGBB`.
  private static func rgba(_ colour: String) -> String {
    let digits = Array(colour.dropFirst())
    let parts = stride(from: 0, to: digits.count - 1, by: 2).map { Int(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
    return (parts + [255]).map(String.init).joined(separator: ",")
  }
}
