/// A node of an R-tree as SQLite stores it (The SQLite R*Tree Module, "Shadow Tables"): a header, then a cell for each child,
/// all numbers big-endian.
struct RTreeNode {
  /// The children, in order: numbers of rows in a leaf, of nodes in all other nodes.
  private(set) var children: [Int64] = []
  /// The rectangle around all of them; `nil` without any.
  private(set) var box: RTreeBox?
  /// The bytes of the cells so far.
  private var cells: [UInt8] = []

  /// Bytes before the first cell: the depth and the number of cells, 16 bits each.
  static let headerSize = 4
  /// Bytes of a cell: a child's number of 64 bits and four edges, each a `Float`.
  static let cellSize = 24

  mutating func add(_ child: Int64, _ box: RTreeBox) {
    children.append(child)
    append(UInt64(bitPattern: child))
    for edge in [box.minX, box.maxX, box.minY, box.maxY] { append(edge.bitPattern) }
    self.box = self.box?.union(box) ?? box
  }

  /// The node as a blob of `size` bytes, filled up with zeros. The node must fit (`RTreePacking` counts the children).
  /// - Parameter depth: Levels below it; only the root has it.
  func blob(size: Int, depth: UInt16 = 0) -> [UInt8] {
    var header = RTreeNode()
    header.append(depth)
    header.append(UInt16(clamping: children.count))
    let content = header.cells + cells
    return content + repeatElement(0, count: max(0, size - content.count))
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { cells.append(contentsOf: $0) }
  }
}
