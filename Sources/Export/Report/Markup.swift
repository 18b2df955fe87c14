import Coverage

/// Pieces of HTML for ``ReportPage``: tables, references to footnotes, and numbers in the form that the page shows.
enum Markup {
  /// `text` with the characters that HTML and XML give a meaning escaped.
  static func escaped(_ text: String) -> String {
    // By scalar: a mark that joins a quotation mark to one character would hide it.
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  /// A table with a caption; the first cell of each row is its heading. Cells are HTML.
  /// - Parameter more: The number of rows that the page leaves out.
  static func table(_ caption: String, _ heads: [String], _ rows: [[String]], more: Int = 0) -> String {
    let head = heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
    let body = rows.map { row in
      let cells = row.dropFirst().map { "<td>\($0)</td>" }.joined()
      return "<tr><th scope=\"row\">\(row.first ?? "")</th>\(cells)</tr>"
    }.joined(separator: "\n")
    return """
      <div class="scroll" tabindex="0" role="region" aria-label="\(plain(caption))"><table><caption>\(caption)</caption>
      <thead><tr>\(head)</tr></thead>
      <tbody>\(body)</tbody></table></div>\(more > 0 ? "<p>\(counted(more, "more row")): JSON has them.</p>" : "")
      """
  }

  /// A number with `places` decimals, rounded half away from zero, with a typographic minus; `–` for none, and for one that
  /// is too large.
  static func number(_ value: Double?, _ places: Int) -> String {
    guard let value, value.isFinite else { return "–" }
    let unit = (0..<places).reduce(1.0) { unit, _ in unit * 10 }
    guard let scaled = Int64(exactly: (value.magnitude * unit).rounded()) else { return "–" }
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int64(unit))
    // A negative value that rounds to 0 has no sign.
    let sign = value < 0 && scaled > 0 ? "−" : ""
    guard places > 0 else { return "\(sign)\(whole)" }
    let digits = String(rest)
    return sign + "\(whole)." + String(repeating: "0", count: max(0, places - digits.count)) + digits
  }

  /// A number for an attribute of SVG, with a decimal and without a typographic minus.
  static func coordinate(_ value: Double) -> String { number(value, 1).replacing("−", with: "-") }

  /// A share in percent with two decimals; `–` for none.
  static func percent(_ value: Double?) -> String { value == nil ? "–" : number(value, 2) + " %" }

  /// A test's probability with four decimals; a smaller one has only its bound.
  static func probability(_ value: Double) -> String { value < 0.0001 ? "&lt; 0.0001" : number(value, 4) }

  /// A small line below a value.
  static func below(_ text: String) -> String { "<br><span class=\"soft\">\(text)</span>" }

  /// The lines for a value without an interval.
  static let notEnough = below("not enough samples")
  static let noLog = below("no interval: a drive log is missing")

  /// An interval in words, also one with a single end; `nil` without any.
  static func interval(_ lower: Int64?, _ upper: Int64?, _ text: (Int64?) -> String) -> String? {
    switch (lower, upper) {
    case (nil, nil): nil
    case (_, nil): "at least \(text(lower))"
    case (nil, _): "at most \(text(upper))"
    default: "\(text(lower)) to \(text(upper))"
    }
  }

  /// The interval of a share in percent, below it, followed by `words`; empty when there is no share.
  static func interval(_ share: Estimate?, exists: Bool, _ words: String = "") -> String {
    guard exists else { return "" }
    return share.map { below("\(number($0.lower * 100, 2)) to \(number($0.upper * 100, 2))\(words)") } ?? notEnough
  }

  /// Microseconds as milliseconds, to three significant digits; whole ones from 100 ms on have a decimal, too. `–` for none.
  static func milliseconds(_ microseconds: Int64?) -> String {
    let places =
      (microseconds?.saturatingMagnitude ?? 0) >= 9_995 ? 1 : (microseconds?.saturatingMagnitude ?? 0) >= 1000 ? 2 : 3
    return number(microseconds.map { Double($0) / 1000 }, places)
  }

  /// As ``time(_:)``, below a minute with a decimal: `43.4 s`.
  static func shortTime(_ microseconds: Int64) -> String {
    microseconds < 59_950_000 ? number(Double(microseconds) / 1e6, 1) + " s" : time(microseconds)
  }

  /// A moment as people read it, to the second: `2026-11-20 10:00:00 UTC`.
  static func moment(_ time: WallTime) -> String {
    time.iso8601Seconds.replacing("T", with: " ").replacing("Z", with: " UTC")
  }

  /// Microseconds, rounded to seconds, from an hour on to minutes: `2 h 5 min`, `5 min 3 s`, `3 s`.
  static func time(_ microseconds: Int64) -> String {
    let seconds = (microseconds.saturatingAdding(500_000)) / 1_000_000
    let minutes = seconds < 3600 ? seconds / 60 : (seconds + 30) / 60
    if minutes >= 60 { return "\(minutes / 60) h \(minutes % 60) min" }
    return (minutes > 0 ? "\(minutes) min " : "") + "\(seconds % 60) s"
  }

  /// The caption without its footnotes, for an attribute: all before the first tag.
  private static func plain(_ text: String) -> String {
    text.firstIndex(of: "<").map { String(text[..<$0]) } ?? text
  }
}
