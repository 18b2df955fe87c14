import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// An MBTiles file (version 1.3 of https://github.com/mapbox/mbtiles-spec): a SQLite database with the tables or views `tiles` and
/// `metadata`. A view can be made to run for ever, so each query has a limit of steps.
final class MBTiles: TileArchive {
  let isVector: Bool
  let zooms: ClosedRange<Int>
  let attribution: String?

  private let file: BasemapFile
  private let queue: DatabaseQueue
  private let steps: Steps

  static let magic = Array("SQLite format 3\u{0}".utf8)

  /// The steps of a query so far, in thousands.
  private final class Steps: Sendable {
    let thousands = Atomic(0)
    /// A look-up by the index needs some hundred steps; this many take a second or two.
    static let most = 20_000
  }

  init(_ file: BasemapFile) throws {
    let steps = Steps()
    (self.file, self.steps) = (file, steps)
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { database in
      // No function of the schema may have an effect, and no cell may end outside of its page.
      try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
      guard let connection = database.sqliteConnection else { return }
      sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, CInt(TileContent.mostBytes))
      sqlite3_progress_handler(
        connection, 1000,
        { context in
          guard let context else { return 1 }
          let steps = Unmanaged<Steps>.fromOpaque(context).takeUnretainedValue()
          return steps.thousands.add(1, ordering: .relaxed).newValue > Steps.most ? 1 : 0
        }, Unmanaged.passUnretained(steps).toOpaque())
    }
    do {
      let queue = try DatabaseQueue(path: file.path, configuration: configuration)
      self.queue = queue
      // Each by itself: SQLite then asks the index.
      let ends = try ["min", "max"].map { end in
        try Self.value(queue, steps, "SELECT \(end)(zoom_level) FROM tiles") { Int.fromDatabaseValue($0[0]) }
      }
      guard let least = ends[0], let most = ends[1], least >= 0, least <= most, most <= TilePlace.deepest else {
        throw file.error("it has no tiles of zooms 0 to \(TilePlace.deepest)")
      }
      zooms = least...most
      func metadata(_ name: String) throws -> String? {
        try Self.value(queue, steps, "SELECT substr(value, 1, 2000) FROM metadata WHERE name = ?", [name]) {
          String.fromDatabaseValue($0[0])
        }
      }
      // An attribution that cannot be read is none.
      attribution = try? metadata("attribution")
      let format = try? metadata("format")
      // Written by all programs, but not prescribed.
      let first =
        format == nil ? try Self.value(queue, steps, "SELECT tile_data FROM tiles LIMIT 1") { Self.blob($0) } : nil
      let isKnown = ["pbf", "mvt", "png", "jpg", "jpeg", "webp"].contains(format) || first != nil
      guard isKnown else { throw file.error("its format is \(format ?? "unknown"); pbf, png, jpg and webp are read") }
      isVector = format.map { ["pbf", "mvt"].contains($0) } ?? (first.flatMap(TileContent.imageSize) == nil)
    } catch let error as DatabaseError {
      throw Self.error(error, file)
    }
  }

  func bytes(of tile: TilePlace) throws -> [UInt8]? {
    do {
      // Rows count from the south.
      let row = (1 << tile.zoom) - 1 - tile.row
      return try Self.value(
        queue, steps, "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ? LIMIT 1",
        [tile.zoom, tile.column, row]
      ) { Self.blob($0) }
    } catch let error as DatabaseError {
      // A tile above the limit: like one that is damaged.
      if error.resultCode == .SQLITE_TOOBIG { return [] }
      throw Self.error(error, file)
    }
  }

  /// A value of the first row; `nil` without one.
  private static func value<Value>(
    _ queue: DatabaseQueue, _ steps: Steps, _ sql: String, _ arguments: StatementArguments = [],
    _ value: (Row) -> Value?
  ) throws -> Value? {
    try queue.read { database in
      steps.thousands.store(0, ordering: .relaxed)
      return try Row.fetchOne(database, sql: sql, arguments: arguments).flatMap(value)
    }
  }

  private static func blob(_ row: Row) -> [UInt8]? { Data.fromDatabaseValue(row[0]).map(Array.init) }

  private static func error(_ error: DatabaseError, _ file: BasemapFile) -> BasemapError {
    switch error.resultCode {
    case .SQLITE_INTERRUPT: file.error("a look-up takes too long; its table `tiles` needs an index")
    default: file.error(error.message ?? "\(error.resultCode)")
    }
  }
}
