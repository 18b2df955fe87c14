import Foundation
import GRDB
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
    return .init(name: name, type: type, meaning: meaning)
  }

  /// The value of a fence in SQLite's types.
  func databaseValue(of record: FenceRecord) -> DatabaseValue { value(record)?.databaseValue ?? .null }
}

extension JSON {
  /// The value in SQLite's types; an array or an object is its JSON text.
  fileprivate var databaseValue: DatabaseValue {
    switch self {
    case .string(let text): text.databaseValue
    case .integer(let number): number.databaseValue
    // Both are exact below 2^53, so the quotient is the number nearest to the decimal.
    case .decimal(let units, let places): (Double(units) / Self.powers[min(places, 18)]).databaseValue
    case .number(let number): number.databaseValue
    case .bool(let value): value.databaseValue
    case .null: .null
    case .array, .object: text.databaseValue
    }
  }

  private static let powers: [Double] = (0...18).map { pow(10, Double($0)) }
}
