extension LayerFields {
  static let speedTests = LayerFields(
    columns: SpeedTestColumns.properties.map(\.name),
    tip: """
      <b>[% \(text("technology", else: "no technology")) %]</b>, [% \(text("outcome", else: "")) %]<br>\
      down [% \(number("download_kbps", 0)) %] kbit/s, up [% \(number("upload_kbps", 0)) %] kbit/s<br>\
      ping [% \(number("ping_median_ms", 1)) %] ms<br>[% \(text("started_at", else: "")) %]
      """)
}

extension LayerStyle {
  /// Squares, as on the map page: circles are fences.
  static let ofSpeedTests = [
    LayerStyle(
      table: "speed_tests", name: "technology", description: "speed tests by radio technology",
      qml: byRules(technologyRules, symbol: "marker", of: .speedTests) { entry, _ in
        marker(entry, isWifi: false, name: "square", size: "3")
      })
  ]
}
