/// Text from gpsd, made fit for a log and a terminal.
enum ForeignText {
  /// Scalars that a log line takes from one text.
  static let longest = 200

  /// Without controls, line ends, invisible and direction marks, which become spaces; cut off behind `limit` scalars.
  static func clean(_ text: String, limit: Int = longest) -> String {
    var cleaned = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard cleaned.count < limit else { return String(cleaned) + "..." }
      cleaned.append(isPrintable(scalar) ? scalar : " ")
    }
    return String(cleaned)
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
    default: true
    }
  }
}
