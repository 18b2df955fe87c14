import Coverage
import Store

extension GeoPackage {
  /// A package with one layer, `speed_tests`: a point where each test began. Tests without a place are left out.
  /// - Parameters:
  ///   - scratch: A folder for the file while it is made.
  ///   - write: Receives the file in pieces.
  /// - Throws: ``GeoPackageError``, and errors of `write`.
  static func export(_ tests: [StoredSpeedTest], scratch: String, write: ([UInt8]) throws -> Void) throws {
    let columns = SpeedTestColumn.properties
    try make(scratch: scratch, styles: LayerStyle.ofSpeedTests, write: write) { database in
      let layer = try GeoPackageLayer(
        "speed_tests", geometry: "POINT", description: "speed tests, where they began", fields: columns.map(\.field),
        in: database)
      for test in tests {
        guard let place = test.place else { continue }
        try layer.add(GeoPackageGeometry(point: place), id: test.id, values: columns.map { $0.value(test) })
      }
      try layer.finish()
    }
  }
}

extension SpeedTestColumn {
  /// The column as a field of a GeoPackage.
  var field: GeoPackageField { GeoPackageField(name: name, type: kind.typeOfGeoPackage, meaning: meaning) }
}
