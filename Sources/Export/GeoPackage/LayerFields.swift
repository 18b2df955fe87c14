import OrderedJSON

/// The fields of a layer as QGIS shows them: a name for people beside each column, and what a map tip says.
struct LayerFields {
  let columns: [String]
  /// Text with QGIS's expressions within `[% %]`, in HTML.
  let tip: String

  static let fences = LayerFields(
    columns: ColumnList.storedProperties.map(\.name),
    tip: """
      <b>[% \(text("technology", else: "no technology")) %]</b><br>\
      median [% \(number("p50_ping_ms", 1)) %] ms, 95 % [% \(number("p95_ping_ms", 1)) %] ms<br>\
      [% "pings" - "pings_ok" %] of [% "pings" %] pings lost<br>\
      [% \(text("entered_at", else: "")) %]
      """)

  static let tracks = LayerFields(
    columns: ["session", "link", "began_at", "ended_at", "positions"],
    tip: "session [% \"session\" %], [% \(text("began_at", else: "")) %] to [% \(text("ended_at", else: "")) %]")

  /// The part of a style that has both, in QGIS's XML (QML).
  var qml: String {
    let aliases = columns.enumerated().map { index, column in
      "<alias index=\"\(index + 1)\" field=\"\(Markup.escaped(column))\" name=\"\(Markup.escaped(Self.alias(of: column)))\"/>"
    }
    return "<aliases>\(aliases.joined())</aliases>\n<mapTip enabled=\"1\">\(Markup.escaped(tip))</mapTip>"
  }

  /// The name of a column for people, such as `Median delay (ms)` for `p50_ping_ms`.
  static func alias(of column: String) -> String {
    if let alias = special[column] { return alias }
    var (words, unit) = (column.split(separator: "_").map(String.init), "")
    if words.count > 1, let last = words.last, let known = units[last] {
      unit = " (\(known))"
      words.removeLast()
    }
    let text = words.map { acronyms[$0] ?? $0 }.joined(separator: " ")
    return text.prefix(1).uppercased() + text.dropFirst() + unit
  }

  private static let special = [
    "pings_ok": "Pings answered", "pings_unsent": "Pings not sent", "avg_ping_ms": "Mean delay (ms)",
    "p50_ping_ms": "Median delay (ms)", "p95_ping_ms": "95th percentile of the delay (ms)",
    "min_ping_ms": "Shortest delay (ms)", "max_ping_ms": "Longest delay (ms)", "ipdv_ms": "Delay variation (ms)",
    "avg_ping_kernel_ms": "Mean delay by kernel stamps (ms)", "entered_at": "Begin", "exited_at": "End",
    "submittable": "Can be submitted",
  ]

  private static let units = [
    "ms": "ms", "m": "m", "s": "s", "deg": "°", "mps": "m/s", "dbm": "dBm", "db": "dB", "khz": "kHz", "kbps": "kbit/s",
  ]

  private static let acronyms = [
    "rssi": "RSSI", "rscp": "RSCP", "ecio": "Ec/Io", "rsrp": "RSRP", "rsrq": "RSRQ", "sinr": "SINR", "nr": "NR",
    "uuid": "UUID", "id": "ID", "mcc": "MCC", "mnc": "MNC", "pci": "PCI", "qos": "QoS", "min": "lowest",
    "max": "highest",
  ]

  /// An expression for a text of the file, which is no HTML.
  static func text(_ field: String, else none: String) -> String {
    "replace(replace(coalesce(\"\(field)\", '\(none)'), '&', '&amp;'), '<', '&lt;')"
  }

  static func number(_ field: String, _ places: Int) -> String {
    "coalesce(format_number(\"\(field)\", \(places)), '–')"
  }

  /// Texts as a list of an expression.
  static func list(_ texts: [String]) -> String { texts.map { "'\($0)'" }.joined(separator: ", ") }
}
