import Foundation
import OrderedJSON

extension Column {
  /// The column as a field of a GeoPackage.
  var field: GeoPackageField { GeoPackageField(name: name, type: kind.typeOfGeoPackage, meaning: meaning) }
}

extension Column.Kind {
  /// Its name in GeoPackage (OGC 12-128r17, table 1).
  var typeOfGeoPackage: String {
    switch self {
    case .integer, .long: "INTEGER"
    case .decimal: "REAL"
    case .boolean: "BOOLEAN"
    case .time: "DATETIME"
    case .text, .object: "TEXT"
    }
  }
}

extension JSON {
  /// The binary number nearest to a decimal: units and power are exact below 2^53, and a quotient is rounded once.
  static func number(_ units: Int64, places: Int) -> Double { Double(units) / powers[min(max(places, 0), 18)] }

  /// All powers that a `Double` and 64 bits of units need; each is exact.
  private static let powers: [Double] = (0...18).map { pow(10, Double($0)) }
}
