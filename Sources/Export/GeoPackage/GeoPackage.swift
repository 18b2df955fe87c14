import Coverage
import Foundation
import GRDB
import OrderedJSON

/// A GeoPackage 1.3 (OGC 12-128r17) with the fences as circles (`fences`) and as points (`fence_centres`), and the tracks
/// (`tracks`), each with an R-tree and with a style for QGIS.
///
/// SQLite needs a file that it can write at any place, and the output can be a pipe. So the package is made in a scratch file,
/// which is then copied to the output.
enum GeoPackage {
  /// - Parameters:
  ///   - scratch: A folder for the file while it is made. The file has a name there for a moment only: an export that is killed
  ///     leaves nothing behind.
  ///   - write: Receives the file in pieces.
  /// - Throws: ``GeoPackageError``, and errors of the records, the tracks and `write`.
  static func export(
    _ records: some FenceRecords, tracks: some DriveTracks, _ statement: ExportStatement?,
    provenance: ProvenanceSource? = nil, scratch: String, write: ([UInt8]) throws -> Void
  ) throws {
    try make(scratch: scratch, styles: LayerStyle.ofFences + FigureStyle.all, write: write) { database in
      try addFences(records, to: database)
      try addTracks(tracks, to: database)
      try statement?.add(to: database)
      try add(provenance, to: database)
    }
  }

  /// Makes a package whose layers `fill` adds, and passes it to `write`.
  /// - Throws: ``GeoPackageError`` when the scratch file cannot be made, written or read; other errors of SQLite, and
  ///   errors of `fill` and `write`.
  static func make(
    scratch: String, styles: [LayerStyle], write: ([UInt8]) throws -> Void, fill: (Database) throws -> Void
  ) throws {
    let path = scratch + "/coverage-probe-\(getpid())-\(UInt64.random(in: 0 ... .max)).gpkg"
    defer { unlink(path) }
    // Exclusive: in a folder that all may write to, the name could be a link that another user put there. SQLite opens the
    // empty file by its name.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw GeoPackageError(folder: scratch, reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    do {
      try make(path, styles, fill)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL || error.resultCode == .SQLITE_IOERR {
      throw GeoPackageError(folder: scratch, reason: error.message ?? "it cannot be written")
    }
    try copy(descriptor, scratch, to: write)
  }

  /// Fills the empty file at `path`.
  private static func make(_ path: String, _ styles: [LayerStyle], _ fill: (Database) throws -> Void) throws {
    var configuration = Configuration()
    // No journal and no syncing: the file has no value before it is complete, and a failed one is removed.
    configuration.prepareDatabase { database in
      try database.execute(
        sql: """
          PRAGMA page_size = 4096; PRAGMA application_id = \(GeoPackageSchema.applicationID);
          PRAGMA user_version = \(GeoPackageSchema.userVersion);
          PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
          """)
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    // Without a journal, SQLite never opens the file by its name again.
    unlink(path)
    try queue.write { database in
      try database.execute(sql: GeoPackageSchema.tables)
      try fill(database)
      try add(styles, to: database)
    }
    try queue.close()
  }

  /// Both layers get the same numbers and values. The fences are read once.
  private static func addFences(_ records: some FenceRecords, to database: Database) throws {
    let columns = ColumnList.storedProperties
    let circles = try GeoPackageLayer(
      "fences", geometry: "MULTIPOLYGON", description: "fences, as circles on the ground",
      fields: columns.map(\.field), in: database)
    let centres = try GeoPackageLayer(
      "fence_centres", geometry: "POINT", description: "the same fences, as points", fields: columns.map(\.field),
      in: database)
    try records.forEach { record in
      let values = columns.map { $0.value(record) }
      let outline = CircleOutline(centre: record.fence.centre, radius: record.fence.radius)
      try circles.add(GeoPackageGeometry(circle: outline), id: record.id, values: values)
      try centres.add(GeoPackageGeometry(point: record.fence.centre), id: record.id, values: values)
    }
    try circles.finish()
    try centres.finish()
  }

  /// A line for each segment, with a number of its own: a segment has none in the store.
  private static func addTracks(_ tracks: some DriveTracks, to database: Database) throws {
    let layer = try GeoPackageLayer(
      "tracks", geometry: "LINESTRING", description: "positions of the drives, a line where there is no gap",
      fields: [
        .init(name: "session", type: "INTEGER", meaning: "id of the session, as `sessions` lists it"),
        .init(name: "link", type: "TEXT", meaning: "name of the measured link, when a drive measures several"),
        .init(name: "began_at", type: "DATETIME", meaning: "time of the first position"),
        .init(name: "ended_at", type: "DATETIME", meaning: "time of the last position"),
        .init(name: "positions", type: "INTEGER", meaning: "number of positions"),
      ], in: database)
    try tracks.forEach { segment in
      // A line needs two different places (OGC 06-103r4, 6.1.7): that of a parked car has none.
      guard let first = segment.points.first, let last = segment.points.last,
        segment.points.contains(where: { $0.place != first.place })
      else { return }
      try layer.add(
        GeoPackageGeometry(line: segment.points),
        values: [
          .integer(segment.session), segment.link.map(JSON.string), .string(first.time.iso8601),
          .string(last.time.iso8601), .count(segment.points.count),
        ])
    }
    try layer.finish()
  }

  /// The provenance as metadata of the whole package.
  static func add(_ provenance: ProvenanceSource?, to database: Database) throws {
    guard let provenance = try provenance?() else { return }
    try database.execute(sql: GeoPackageSchema.metadata)
    try database.execute(
      sql: """
        INSERT INTO gpkg_metadata (id, md_scope, md_standard_uri, mime_type, metadata)
        VALUES (1, 'dataset', ?, 'application/json', ?);
        INSERT INTO gpkg_metadata_reference (reference_scope, md_file_id) VALUES ('geopackage', 1);
        """, arguments: [GeoPackageSchema.provenance, provenance.json.text])
  }

  /// The rows of QGIS's table of styles.
  private static func add(_ styles: [LayerStyle], to database: Database) throws {
    try database.execute(sql: GeoPackageSchema.styles)
    for style in styles {
      try database.execute(
        sql: """
          INSERT INTO layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, styleQML,
            styleSLD, useAsDefault, description, owner, ui)
          VALUES ('', '', ?, 'geom', ?, ?, '', ?, ?, '', NULL)
          """, arguments: [style.table, style.name, style.qml, style.isDefault, style.description])
    }
  }

  /// Passes the file to `write` in pieces of 256 KiB.
  private static func copy(_ descriptor: CInt, _ scratch: String, to write: ([UInt8]) throws -> Void) throws {
    let size = 1 << 18
    var offset: off_t = 0
    while true {
      var count = 0
      let piece = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
        count = pread(descriptor, buffer.baseAddress, size, offset)
        initialized = max(0, count)
      }
      guard count >= 0 else { throw GeoPackageError(folder: scratch, reason: String(cString: strerror(errno))) }
      guard count > 0 else { return }
      offset += off_t(count)
      try write(piece)
    }
  }
}

/// The scratch file of a GeoPackage cannot be made, written or read, mostly because its folder has no room.
struct GeoPackageError: Error, Hashable, CustomStringConvertible {
  let folder: String
  let reason: String

  var description: String {
    "cannot make the GeoPackage in \(folder): \(reason); set TMPDIR to a folder with room for it, or use -o"
  }
}
