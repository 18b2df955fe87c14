import Coverage

/// A table for a terminal, with columns as wide as their widest cell.
enum AlignedTable {
  /// - Parameter rows: The head and the rows, all of the same length.
  static func text(_ rows: [[String]]) -> String { lines(rows).joined(separator: "\n") }

  /// The most columns of a line of a table with notes.
  static let widest = 100

  /// A table of at most ``widest`` columns, with a line below each row that has a note.
  /// - Parameters:
  ///   - rows: The head and the rows, all of the same length.
  ///   - notes: For each row without the head, what is special about it; `nil`: nothing.
  ///   - flexible: The places of the cells that are cut to fit, the first one first.
  static func text(_ rows: [[String]], notes: [String?], cutting flexible: [Int]) -> String {
    zip(lines(rows, limit: widest, cutting: flexible), [nil] + notes).map { line, note in
      line + (note.map { "\n" + LineWidth.shortened("    " + $0, to: widest) } ?? "")
    }.joined(separator: "\n")
  }

  /// A line for each row, without trailing blanks.
  /// - Parameters:
  ///   - rows: The head and the rows, all of the same length.
  ///   - limit: The most columns of a line; `nil`: any.
  ///   - flexible: The places of the cells that are cut to fit, the first one first; each keeps at least eight columns.
  static func lines(_ rows: [[String]], limit: Int? = nil, cutting flexible: [Int] = []) -> [String] {
    var widths = (rows.first ?? []).indices.map { place in
      rows.map { TerminalColumns.count($0[place]) }.max() ?? 0
    }
    if let limit {
      for place in flexible {
        let surplus = widths.reduce(0, +) + gap.count * (widths.count - 1) - limit
        widths[place] -= max(0, min(surplus, widths[place] - leastWidth))
      }
    }
    return rows.map { row in
      let cells = zip(row, widths).map { cell, width in
        let cell = LineWidth.shortened(cell, to: width)
        return cell + String(repeating: " ", count: max(0, width - TerminalColumns.count(cell)))
      }
      return String(cells.joined(separator: gap).reversed().drop { $0 == " " }.reversed())
    }
  }

  private static let gap = "  "
  private static let leastWidth = 8
}
