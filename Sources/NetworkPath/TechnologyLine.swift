import Coverage

/// A line of the radio program's output.
enum TechnologyLine: Hashable {
  /// A known technology; `nil` for an empty line, `none` and `NONE`: no service.
  case technology(Technology?)
  /// Any other text, at most 60 characters of it.
  case unknown(String)

  init(_ line: String) {
    let text = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    let technology = Technology(text)
    if ["", "none", "NONE"].contains(text) {
      self = .technology(nil)
    } else if technology.isKnown {
      self = .technology(technology)
    } else {
      self = .unknown(String(text.prefix(60)))
    }
  }
}
