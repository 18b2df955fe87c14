/// A table for a terminal, with columns as wide as their widest cell.
enum AlignedTable {
  /// - Parameter rows: The head and the rows, all of the same length.
  static func text(_ rows: [[String]]) -> String {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
      return cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed().map(String.init).joined()
    }.joined(separator: "\n")
  }
}
