import Foundation
import GRDB

/// Fills an empty R-tree of SQLite in the order of its rows, node by node, with only the nodes above the last row in memory.
///
/// SQLite's own insertion looks for the best node of each row, which takes longer than all other work on a fence. Fences come
/// in the order of the drive, so a node of consecutive ones covers a small area all the same. The nodes go into the tables
/// behind the R-tree, whose form SQLite documents (The SQLite R*Tree Module, "Shadow Tables").
struct RTreePacking {
  /// The open node of each level, the leaf first. The last one becomes the root, whose number is reserved.
  private var levels = [RTreeNode()]
  private var nextNode = root + 1
  /// Bytes of each node.
  private let nodeSize: Int
  /// The most children of a node.
  private let capacity: Int
  private let tree: String
  private let database: Database
  private var nodes: RowInsertion
  /// SQLite's table of the leaf in which each row is.
  private var leafOfRow: RowInsertion
  /// SQLite's table of the node above each node but the root.
  private var parentOfNode: RowInsertion

  /// SQLite begins each search here.
  private static let root: Int64 = 1

  /// - Parameter tree: The name of the R-tree; it goes into SQL unchanged.
  init(_ tree: String, in database: Database) throws {
    func insertion(_ table: String) throws -> RowInsertion {
      RowInsertion(try database.makeStatement(sql: "INSERT INTO \"\(tree)_\(table)\" VALUES (?, ?)"), in: database)
    }
    (self.tree, self.database) = (tree, database)
    nodes = try insertion("node")
    leafOfRow = try insertion("rowid")
    parentOfNode = try insertion("parent")
    // SQLite chose the size when it made the empty root.
    let sizeOfRoot = "SELECT length(data) FROM \"\(tree)_node\" WHERE nodeno = \(Self.root)"
    guard let nodeSize = try Int.fetchOne(database, sql: sizeOfRoot) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the R-tree \(tree) has no root")
    }
    self.nodeSize = nodeSize
    capacity = (nodeSize - RTreeNode.headerSize) / RTreeNode.cellSize
  }

  mutating func add(_ row: Int64, _ box: RTreeBox) throws { try add(row, box, to: 0) }

  /// Completes the tree. Called once, after the last row.
  mutating func finish() throws {
    var level = 0
    while level < levels.count - 1 {
      try close(level)
      level += 1
    }
    try link(levels[level], at: level, number: Self.root)
    try database.execute(
      sql: "UPDATE \"\(tree)_node\" SET data = ? WHERE nodeno = \(Self.root)",
      arguments: [Data(levels[level].blob(size: nodeSize, depth: UInt16(clamping: level)))])
  }

  /// Adds a row or a node to the open node of a level; closes a full one before.
  private mutating func add(_ child: Int64, _ box: RTreeBox, to level: Int) throws {
    if levels[level].children.count == capacity { try close(level) }
    levels[level].add(child, box)
  }

  /// Writes the node of a level, and adds it to the level above.
  private mutating func close(_ level: Int) throws {
    let node = levels[level]
    guard let box = node.box else { return }
    let number = nextNode
    nextNode += 1
    nodes.bind(number)
    nodes.bind(node.blob(size: nodeSize))
    try nodes.insert()
    try link(node, at: level, number: number)
    levels[level] = RTreeNode()
    if level + 1 == levels.count { levels.append(RTreeNode()) }
    try add(number, box, to: level + 1)
  }

  /// Records to which node its children belong.
  private mutating func link(_ node: RTreeNode, at level: Int, number: Int64) throws {
    for child in node.children {
      if level == 0 {
        try Self.link(child, to: number, &leafOfRow)
      } else {
        try Self.link(child, to: number, &parentOfNode)
      }
    }
  }

  private static func link(_ child: Int64, to node: Int64, _ table: inout RowInsertion) throws {
    table.bind(child)
    table.bind(node)
    try table.insert()
  }
}

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
