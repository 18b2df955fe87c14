/// The screen of a terminal: text, line ends, and the sequences that our programs use. An unknown sequence stays on the screen, where
/// a test sees it.
public struct TerminalScreen: Sendable {
  public private(set) var columns: Int
  public private(set) var rows: Int
  /// The lines that have left the screen at its top.
  public private(set) var history: [String] = []
  private var cells: [[Character]]
  private var (x, y) = (0, 0)
  /// Whether the last column was written: the next character begins another line.
  private var isWrapping = false

  public init(columns: Int, rows: Int) {
    (self.columns, self.rows) = (columns, rows)
    cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  /// The lines of the screen, without blanks at their ends and empty lines below.
  public var lines: [String] {
    let lines = cells.map { String($0.reversed().drop { $0 == " " }.reversed()) }
    return Array(lines.reversed().drop(while: \.isEmpty).reversed())
  }

  public mutating func feed(_ text: String) {
    var rest = text[...]
    while let character = rest.first {
      if let match = rest.prefixMatch(of: /\u{1B}\[([0-9;]*)([A-Za-z])/) {
        perform(match.2, Int(match.1) ?? 0)
        rest = rest[match.range.upperBound...]
        continue
      }
      rest.removeFirst()
      // CR LF is one character in Swift.
      for scalar in String(character).unicodeScalars.count > 1 && character == "\r\n" ? ["\r", "\n"] : [character] {
        put(scalar)
      }
    }
  }

  private mutating func put(_ character: Character) {
    switch character {
    case "\r": (x, isWrapping) = (0, false)
    case "\n": lineFeed()
    default:
      if isWrapping { lineFeed(toColumn: 0) }
      cells[y][x] = character
      if x == columns - 1 { isWrapping = true } else { x += 1 }
    }
  }

  private mutating func lineFeed(toColumn column: Int? = nil) {
    isWrapping = false
    x = column ?? x
    if y < rows - 1 {
      y += 1
    } else {
      history.append(String(cells.removeFirst().reversed().drop { $0 == " " }.reversed()))
      cells.append(Array(repeating: " ", count: columns))
    }
  }

  private mutating func perform(_ command: Substring, _ number: Int) {
    switch command {
    case "m": break
    case "A": (y, isWrapping) = (max(0, y - max(1, number)), false)
    case "K": cells[y].replaceSubrange(x..., with: Array(repeating: " ", count: columns - x))
    case "J":
      cells[y].replaceSubrange(x..., with: Array(repeating: " ", count: columns - x))
      for below in cells.indices where below > y { cells[below] = Array(repeating: " ", count: columns) }
    default: for character in "ESC[\(number)\(command)" { put(character) }
    }
  }
}
