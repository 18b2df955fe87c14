import Foundation
import GRDB
import OrderedJSON

/// A table of features in a GeoPackage, with its R-tree, filled row by row: ``add(_:id:values:)`` for each feature, then
/// ``finish()`` once.
///
/// It has the columns `fid` and `geom`, then the fields. It registers itself in the tables that GeoPackage prescribes
/// (``GeoPackageSchema``).
final class GeoPackageLayer {
  private let name: String
  private let database: Database
  private var row: RowInsertion
  private var tree: RTreePacking
  private var nextID: Int64 = 1
  /// The rectangle around all features so far, in degrees; `nil` without any.
  private var box: (minX: Double, maxX: Double, minY: Double, maxY: Double)?

  /// Creates the table.
  /// - Parameters:
  ///   - name: The name of the table; it goes into SQL unchanged.
  ///   - geometry: GeoPackage's name of the type of geometry, such as `POINT` (OGC 12-128r17, annex G).
  init(_ name: String, geometry: String, description: String, fields: [GeoPackageField], in database: Database) throws {
    (self.name, self.database) = (name, database)
    let columns = fields.map { "\"\($0.name)\" \($0.type)" }
    try database.execute(
      sql: """
        CREATE TABLE "\(name)" (
          \((["fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL", "geom \(geometry)"] + columns).joined(separator: ",\n  ")));
        CREATE VIRTUAL TABLE "rtree_\(name)_geom" USING rtree(id, minx, maxx, miny, maxy);
        """)
    try database.execute(
      sql: """
        INSERT INTO gpkg_contents (table_name, data_type, identifier, description, srs_id)
          VALUES (:name, 'features', :name, :description, :srs);
        INSERT INTO gpkg_geometry_columns VALUES (:name, 'geom', :geometry, :srs, 0, 0);
        INSERT INTO gpkg_extensions
          VALUES (:name, 'geom', 'gpkg_rtree_index', 'http://www.geopackage.org/spec120/#extension_rtree', 'write-only');
        """,
      arguments: [
        "name": name, "description": description, "geometry": geometry, "srs": GeoPackageSchema.wgs84,
      ])
    for field in fields {
      try database.execute(
        sql: "INSERT INTO gpkg_data_columns VALUES (?, ?, NULL, NULL, ?, NULL, NULL)",
        arguments: [name, field.name, field.meaning])
    }
    let marks = String(repeating: ", ?", count: fields.count)
    row = RowInsertion(
      try database.makeStatement(sql: "INSERT INTO \"\(name)\" VALUES (?, ?\(marks))"), in: database)
    tree = try RTreePacking("rtree_\(name)_geom", in: database)
  }

  /// Adds a feature.
  /// - Parameters:
  ///   - id: Its number; `nil`: one more than that of the feature before.
  ///   - values: Those of the fields, in order.
  func add(_ geometry: GeoPackageGeometry, id: Int64? = nil, values: [JSON?]) throws {
    let id = id ?? nextID
    nextID = id &+ 1
    row.bind(id)
    row.bind(geometry.bytes)
    for value in values { row.bind(value) }
    try row.insert()
    let box = geometry.box
    try tree.add(id, RTreeBox(minX: box.minX, maxX: box.maxX, minY: box.minY, maxY: box.maxY))
    guard let whole = self.box else {
      self.box = box
      return
    }
    self.box = (
      min(whole.minX, box.minX), max(whole.maxX, box.maxX), min(whole.minY, box.minY), max(whole.maxY, box.maxY)
    )
  }

  /// Completes the layer after its last feature.
  func finish() throws {
    try tree.finish()
    if let box {
      try database.execute(
        sql: "UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ? WHERE table_name = ?",
        arguments: [box.minX, box.minY, box.maxX, box.maxY, name])
    }
    // After all rows: this process lacks the functions that the triggers call (``GeoPackageSchema/triggers(of:)``).
    try database.execute(sql: GeoPackageSchema.triggers(of: name))
  }
}
