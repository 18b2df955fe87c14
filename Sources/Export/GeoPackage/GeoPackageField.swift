import Foundation
import OrderedJSON

/// A column of a layer beside its geometry.
struct GeoPackageField {
  let name: String
  /// One of GeoPackage's types (OGC 12-128r17, table 1).
  let type: String
  /// The `description` in `gpkg_data_columns`, for readers of the file.
  let meaning: String
}

extension Column {
  /// The column as a field of a GeoPackage.
  var field: GeoPackageField { GeoPackageField(name: name, type: kind.typeOfGeoPackage, meaning: meaning) }
}

extension ColumnKind {
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

/// A rectangle in an R-tree of SQLite, in degrees and in single precision. Rounding goes outwards, so that it is never
/// smaller than the rectangle that it stands for, and a search misses no feature.
struct RTreeBox: Hashable {
  private(set) var minX, maxX, minY, maxY: Float

  /// Takes finite numbers, and no least one above its greatest.
  init(minX: Double, maxX: Double, minY: Double, maxY: Double) {
    self.minX = Self.below(minX)
    self.maxX = Self.above(maxX)
    self.minY = Self.below(minY)
    self.maxY = Self.above(maxY)
  }

  /// The rectangle around both.
  func union(_ other: RTreeBox) -> RTreeBox {
    var union = self
    union.minX = min(minX, other.minX)
    union.maxX = max(maxX, other.maxX)
    union.minY = min(minY, other.minY)
    union.maxY = max(maxY, other.maxY)
    return union
  }

  /// The greatest `Float` that is not above `number`.
  private static func below(_ number: Double) -> Float {
    let near = Float(number)
    return Double(near) > number ? near.nextDown : near
  }

  private static func above(_ number: Double) -> Float { -below(-number) }
}
