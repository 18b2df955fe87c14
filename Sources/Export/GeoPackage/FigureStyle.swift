import Coverage

/// Styles of fences by delay, loss and signal, in the classes and colours of the map page (`Map/Page/views.js`).
enum FigureStyle {
  /// For both layers of fences, after the styles by technology.
  static let all: [LayerStyle] = ["fences", "fence_centres"].flatMap { table in
    [
      ("delay", "fences by median delay", delay), ("loss", "fences by lost pings", loss),
      ("signal", "fences by lowest signal level", signal),
    ].map { name, description, rules in
      LayerStyle(
        table: table, name: name, description: description, isDefault: false,
        qml: table == "fences"
          ? LayerStyle.byRules(rules, symbol: "fill", of: .fences) { LayerStyle.fill($0, isWifi: $1) }
          : LayerStyle.byRules(rules, symbol: "marker", of: .fences) { LayerStyle.marker($0, isWifi: $1) })
    }
  }

  /// From good to bad.
  private static let colours = ["#2B6CB8", "#63B0D1", "#F2D06B", "#EE8A3C", "#C2281D"]

  private static func entry(_ label: String, _ colour: String) -> Legend.Entry {
    Legend.Entry(name: "", label: label, colour: colour)
  }

  /// The rules of `classes` for fences that are submitted and for those that Wi-Fi touched, with "not measured" for both.
  private static func rules(_ classes: [(entry: Legend.Entry, filter: String)]) -> [LayerStyle.Rule] {
    [false, true].flatMap { isWifi in
      let (wifi, measured) = isWifi ? ("NOT \"submittable\"", "\"pings_ok\"") : ("\"submittable\"", "\"pings\"")
      let all = classes.map { (entry: $0.entry, filter: "\(measured) > 0 AND \($0.filter)") }
      return (all + [(entry: Legend.notMeasured, filter: "\(measured) = 0")]).map { entry, filter in
        LayerStyle.Rule(entry: entry, isWifi: isWifi, filter: "\(wifi) AND \(filter)")
      }
    }
  }

  private static let delay: [LayerStyle.Rule] = {
    let (value, limits) = ("coalesce(\"p50_ping_ms\", \"avg_ping_ms\")", [30, 60, 120, 300])
    var classes = limits.enumerated().map { index, limit in
      let above = index > 0 ? " AND \(value) >= \(limits[index - 1])" : ""
      return (
        entry: entry("under \(limit) ms", colours[index]), filter: "\"pings_ok\" > 0 AND \(value) < \(limit)\(above)"
      )
    }
    classes.append((entry: entry("300 ms or more", colours[4]), filter: "\"pings_ok\" > 0 AND \(value) >= 300"))
    return rules(classes + [(entry: entry("no answer", "#8B959E"), filter: "\"pings_ok\" = 0")])
  }()

  private static let loss: [LayerStyle.Rule] = {
    let lost = "(\"pings\" - \"pings_ok\")"
    return rules([
      (entry: entry("no loss", colours[0]), filter: "\(lost) <= 0"),
      (entry: entry("up to 2 %", colours[1]), filter: "\(lost) > 0 AND \(lost) * 50 <= \"pings\""),
      (
        entry: entry("up to 10 %", colours[2]), filter: "\(lost) * 50 > \"pings\" AND \(lost) * 10 <= \"pings\""
      ),
      (entry: entry("more", colours[3]), filter: "\(lost) * 10 > \"pings\" AND \"pings_ok\" > 0"),
      (entry: entry("all lost", colours[4]), filter: "\"pings_ok\" = 0"),
    ])
  }()

  private static let signal: [LayerStyle.Rule] = {
    let (limits, level) = ([-80, -90, -100, -110], levelExpression)
    var classes = limits.enumerated().map { index, limit in
      let below = index > 0 ? " AND \(level) < \(limits[index - 1])" : ""
      return (entry: entry("\(limit) dBm or more", colours[index]), filter: "\(level) >= \(limit)\(below)")
    }
    classes.append((entry: entry("less", colours[4]), filter: "\(level) < -110"))
    return rules(classes + [(entry: entry("unknown", "#8B959E"), filter: "\(level) IS NULL")])
  }()

  /// The lowest level of the quantity that stands for the technology, as the column `signal_dbm` of the map page.
  private static var levelExpression: String {
    let names = Dictionary(grouping: Technology.knownNames) {
      FenceRadio.quantities(of: Technology($0)).map(\.rawValue)
    }
    let cases = names.filter { !$0.key.isEmpty }.sorted { $0.key.joined() < $1.key.joined() }.map { quantities, names in
      let levels = quantities.map { "\"\($0)_min_dbm\"" } + ["NULL"]
      return "WHEN \"technology\" IN (\(LayerFields.list(names))) THEN coalesce(\(levels.joined(separator: ", ")))"
    }
    return "(CASE \(cases.joined(separator: " ")) END)"
  }
}
