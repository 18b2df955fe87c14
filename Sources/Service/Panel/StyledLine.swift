import Coverage

/// A line of the panel, in parts of different looks.
struct StyledLine: Hashable, Sendable {
  /// The look of a part.
  enum Style: Hashable, Sendable {
    case plain, strong, soft, warning, delay, loss

    /// The parameters of ECMA-48's SGR; of the 16 colours that every theme makes readable.
    var parameters: String? {
      switch self {
      case .plain: nil
      case .strong: "1"
      case .soft: "2"
      case .warning: "1;33"
      case .delay: "36"
      case .loss: "31"
      }
    }
  }

  /// A text with one look. Control characters, which could move the cursor, become spaces.
  struct Part: Hashable, Sendable {
    var text: String
    var style: Style

    init(_ text: String, _ style: Style) { (self.text, self.style) = (ForeignText.clean(text, limit: 1000), style) }
  }

  var parts: [Part]

  init(_ parts: [Part]) { self.parts = parts }

  /// The columns that it takes.
  var count: Int { parts.reduce(0) { $0 + $1.text.count } }

  /// The line with at most `width` columns; a longer one ends with `…`.
  func text(width: Int, isColoured: Bool) -> String {
    var (free, text) = (width, "")
    let isCut = count > width
    if isCut { free = max(0, width - 1) }
    for part in parts where free > 0 {
      let piece = part.text.prefix(free)
      free -= piece.count
      if isColoured, let parameters = part.style.parameters, !piece.isEmpty {
        text += "\u{1B}[\(parameters)m\(piece)\u{1B}[0m"
      } else {
        text += piece
      }
    }
    return isCut && width > 0 ? text + "…" : text
  }
}
