import Foundation
import OrderedJSON

extension Column {
  /// The column as a field of a GeoPackage.
  var field: GeoPackageField {
    let type =
      switch kind {
      case .integer, .long: "INTEGER"
      case .decimal: "REAL"
      case .boolean: "BOOLEAN"
      case .time: "DATETIME"
      case .text, .object: "TEXT"
      }
    return GeoPackageField(name: name, type: type, meaning: meaning)
  }
}

extension JSON {
  /// The binary number nearest to a decimal: units and power are exact below 2^53, and a quotient is rounded once.
  static func number(_ units: Int64, places: Int) -> Double { Double(units) / powers[min(max(places, 0), 18)] }

  private static let powers: [Double] = (0...18).map { pow(10, Double($0)) }
}
