/// Makes text from outside (gpsd, the control server, the configuration) safe for a log and a terminal.
public enum ForeignText {
  /// The largest number of scalars of one text in a log line.
  public static let longest = 200

  /// Replaces controls, line ends, and invisible and direction marks by spaces, and cuts the text off behind `limit` scalars.
  public static func clean(_ text: String, limit: Int = longest) -> String {
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

/// A number with its noun for people: `1 fence`, `2 fences`.
/// - Parameter plural: The plural; by default the noun with an s.
public func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
