import Foundation
import GRDB

/// A row as SQLite stores it in its file.
struct PageRecord {
  let row: Int64
  let values: [DatabaseValue]

  /// The records of a page that is a leaf of a table's tree (https://www.sqlite.org/fileformat.html#b_tree_pages).
  /// The bytes are not trusted: a damaged page gives wrong records, or none.
  static func all(in page: [UInt8]) -> [PageRecord] {
    let header = 8
    guard page.count > header, page[0] == 0x0D else { return [] }
    func number(_ place: Int) -> Int { Int(page[place]) << 8 | Int(page[place + 1]) }
    let cells = min(number(3), (page.count - header) / 2)
    return (0..<cells).compactMap { PageRecord(in: page, at: number(header + 2 * $0)) }
  }

  /// `nil` for a record that continues on another page: no fence is that long.
  private init?(in page: [UInt8], at cell: Int) {
    var cursor = Cursor(bytes: page, place: cell)
    guard let length = cursor.variable(), let row = cursor.variable(), length > 0, length <= page.count - 35
    else { return nil }
    let start = cursor.place
    guard let header = cursor.variable(), header > 0, header <= length else { return nil }
    var types: [Int64] = []
    while cursor.place < start + Int(header) {
      guard let type = cursor.variable() else { return nil }
      types.append(type)
    }
    var values: [DatabaseValue] = []
    for type in types {
      guard let value = cursor.value(type) else { return nil }
      values.append(value)
    }
    (self.row, self.values) = (row, values)
  }

  /// Reads bytes in order, and fails at their end instead of trapping.
  private struct Cursor {
    let bytes: [UInt8]
    var place: Int

    private mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
      guard count <= bytes.count - place, place >= 0 else { return nil }
      defer { place += count }
      return bytes[place..<place + count]
    }

    /// A variable-length integer: one to nine bytes, seven bits of each except the ninth.
    mutating func variable() -> Int64? {
      var bits: UInt64 = 0
      for index in 0..<9 {
        guard let byte = read(1)?.first else { return nil }
        if index == 8 { return Int64(bitPattern: bits << 8 | UInt64(byte)) }
        bits = bits << 7 | UInt64(byte & 0x7F)
        if byte < 0x80 { break }
      }
      return Int64(bitPattern: bits)
    }

    /// - Returns: `nil` for an undefined type.
    mutating func value(_ type: Int64) -> DatabaseValue? {
      switch type {
      case 0: .null
      case 1...4: integer(Int(type))
      case 5: integer(6)
      case 6: integer(8)
      case 7:
        integer(8).flatMap(Int64.fromDatabaseValue).map { Double(bitPattern: UInt64(bitPattern: $0)).databaseValue }
      case 8, 9: (type - 8).databaseValue
      case 12...:
        read(Int((type - 12) / 2)).map {
          type % 2 == 0 ? Data($0).databaseValue : String(decoding: $0, as: UTF8.self).databaseValue
        }
      default: nil
      }
    }

    /// A big-endian, signed integer.
    private mutating func integer(_ count: Int) -> DatabaseValue? {
      read(count).map { bytes in
        let sign: Int64 = bytes.first.map { $0 >= 0x80 } == true ? -1 : 0
        return bytes.reduce(sign) { $0 << 8 | Int64($1) }.databaseValue
      }
    }
  }
}
