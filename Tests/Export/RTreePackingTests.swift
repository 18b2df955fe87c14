import Foundation
import GRDB
import TestSupport
import Testing

@testable import Export

/// R-trees filled node by node, as SQLite reads, checks and changes them.
struct RTreePackingTests {
  private typealias Edges = (minX: Double, maxX: Double, minY: Double, maxY: Double)

  /// Rectangles along a route, like those of a drive, or anywhere on Earth.
  private func rectangles(_ count: Int, together: Bool, _ random: inout SeededGenerator) -> [Edges] {
    var (x, y) = (16.4, 48.2)
    return (0..<count).map { _ in
      if together {
        x = min(179, max(-180, x + .random(in: -0.001...0.002, using: &random)))
        y = min(89, max(-90, y + .random(in: -0.001...0.002, using: &random)))
      } else {
        (x, y) = (.random(in: -180...179, using: &random), .random(in: -90...89, using: &random))
      }
      return (x, x + .random(in: 0...0.001, using: &random), y, y + .random(in: 0...0.001, using: &random))
    }
  }

  private func tree(_ rectangles: [Edges], pageSize: Int = 4096) throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = \(pageSize)") }
    try queue.write { database in
      try database.execute(sql: "CREATE VIRTUAL TABLE tree USING rtree(id, minx, maxx, miny, maxy)")
      var packing = try RTreePacking("tree", in: database)
      for (index, edges) in rectangles.enumerated() {
        try packing.add(
          Int64(index + 1), RTreeBox(minX: edges.minX, maxX: edges.maxX, minY: edges.minY, maxY: edges.maxY))
      }
      try packing.finish()
    }
    return queue
  }

  private func check(_ queue: DatabaseQueue) throws -> String? {
    try queue.read { try String.fetchOne($0, sql: "SELECT rtreecheck('tree')") }
  }

  @Test(
    "when a node is exactly full, or one row exceeds it, then SQLite accepts the tree and reads each row",
    arguments: [0, 1, 2, 50, 51, 52, 102, 103, 51 * 51, 51 * 51 + 1, 51 * 51 + 52, 10_000])
  func sizes(count: Int) throws {
    var random = SeededGenerator(seed: UInt64(count))
    let queue = try tree(rectangles(count, together: true, &random))
    #expect(try check(queue) == "ok")
    let ids = try queue.read { try Int64.fetchAll($0, sql: "SELECT id FROM tree ORDER BY id") }
    #expect(ids == (0..<Int64(count)).map { $0 + 1 })
  }

  @Test(
    "when a page has room for only 18 rows, then a tree of four levels is valid",
    arguments: [18 * 18 * 18, 5833, 6500])
  func small(count: Int) throws {
    var random = SeededGenerator(seed: UInt64(count))
    let queue = try tree(rectangles(count, together: true, &random), pageSize: 512)
    #expect(try check(queue) == "ok")
    let root = try queue.read { try Data.fetchOne($0, sql: "SELECT data FROM tree_node WHERE nodeno = 1") }
    #expect(root.map { [UInt8]($0.prefix(2)) } == [0, count > 18 * 18 * 18 ? 3 : 2], "levels below the root")
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM tree") } == count)
  }

  @Test("when rectangles touch the edges of the Earth, then they are found there")
  func edges() throws {
    let queue = try tree([(-180, -180, -90, -90), (180, 180, 90, 90), (-180, 180, -90, 90)])
    #expect(try check(queue) == "ok")
    let found = try queue.read { try Int64.fetchSet($0, sql: "SELECT id FROM tree WHERE maxx >= 180 AND maxy >= 90") }
    #expect(found == [2, 3])
  }

  @Test(
    "when a window is searched, then all rectangles in it are found, and none far from it", arguments: [true, false])
  func windows(together: Bool) throws {
    let seed = UInt64(together ? 5 : 6)
    var random = SeededGenerator(seed: seed)
    let rectangles = rectangles(5000, together: together, &random)
    let queue = try tree(rectangles)
    for _ in 0..<200 {
      let centre = rectangles[.random(in: rectangles.indices, using: &random)]
      let half = Double.random(in: 0...(together ? 0.05 : 20), using: &random)
      let window = (centre.minX - half, centre.maxX + half, centre.minY - half, centre.maxY + half)
      func hits(_ margin: Double) -> Set<Int64> {
        Set(
          rectangles.enumerated().filter { _, edges in
            edges.maxX >= window.0 - margin && edges.minX <= window.1 + margin && edges.maxY >= window.2 - margin
              && edges.minY <= window.3 + margin
          }.map { Int64($0.offset + 1) })
      }
      let found = try queue.read {
        try Int64.fetchSet(
          $0, sql: "SELECT id FROM tree WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?",
          arguments: [window.0, window.1, window.2, window.3])
      }
      // Single precision: up to 16 millionths of a degree at 180 degrees.
      #expect(hits(0).isSubset(of: found) && found.isSubset(of: hits(5e-5)), "\(window)")
    }
  }

  @Test("when rows of a packed tree are moved, deleted and added with SQLite, then it stays valid")
  func changes() throws {
    var random = SeededGenerator(seed: 7)
    let queue = try tree(rectangles(3000, together: true, &random))
    try queue.write { database in
      for id in 1...3000 where id % 3 != 0 {
        try database.execute(sql: "DELETE FROM tree WHERE id = ?", arguments: [id])
      }
      for id in 3001...3500 {
        try database.execute(sql: "INSERT INTO tree VALUES (?, 16, 16.1, 48, 48.1)", arguments: [id])
      }
      try database.execute(sql: "UPDATE tree SET minx = -10, maxx = -9 WHERE id % 2 = 0")
    }
    #expect(try check(queue) == "ok")
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM tree") } == 1500)
    try queue.write { try $0.execute(sql: "DELETE FROM tree") }
    #expect(try check(queue) == "ok")
  }

  @Test(
    "when an edge has no exact single-precision value, then the box extends to the next value outside",
    arguments: [-1.0, 1])
  func rounding(sign: Double) {
    let tenth = 0.1 * sign
    let box = RTreeBox(minX: tenth, maxX: tenth, minY: 0.5 * sign, maxY: 0.5 * sign)
    #expect(Double(box.minX) < tenth && Double(box.maxX) > tenth && box.minX.nextUp == box.maxX)
    #expect(Double(box.minY) == 0.5 * sign && box.minY == box.maxY)
  }

  @Test("when two boxes are joined, then the result is the smallest box that contains both")
  func union() {
    let left = RTreeBox(minX: -2, maxX: -1, minY: 0, maxY: 5)
    let right = RTreeBox(minX: -1.5, maxX: 3, minY: -1, maxY: 4)
    let both = RTreeBox(minX: -2, maxX: 3, minY: -1, maxY: 5)
    #expect(left.union(right) == both && right.union(left) == both)
  }

  @Test("when a row is added twice, then the tree fails instead of losing it")
  func twice() throws {
    let queue = try DatabaseQueue()
    try queue.write { database in
      try database.execute(sql: "CREATE VIRTUAL TABLE tree USING rtree(id, minx, maxx, miny, maxy)")
      var packing = try RTreePacking("tree", in: database)
      let box = RTreeBox(minX: 0, maxX: 1, minY: 0, maxY: 1)
      for _ in 0..<2 { try packing.add(1, box) }
      #expect(throws: DatabaseError.self) { try packing.finish() }
    }
  }
}
