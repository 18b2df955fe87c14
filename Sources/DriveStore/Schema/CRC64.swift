import GRDB

/// CRC-64/XZ.
struct CRC64 {
  private var state = UInt64.max

  var value: UInt64 { ~state }

  mutating func add(_ byte: UInt8) {
    state = Self.table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8)
  }

  /// With its type and, where that varies, its length. A whole number counts the same in a column of real numbers: SQLite stores
  /// it as an integer there.
  mutating func add(_ value: DatabaseValue) {
    switch value.storage {
    case .null: add(0 as UInt8)
    case .int64(let integer): add(tag: 1, UInt64(bitPattern: integer))
    case .double(let number):
      if let whole = Int64(exactly: number) {
        add(tag: 1, UInt64(bitPattern: whole))
      } else {
        add(tag: 2, number.bitPattern)
      }
    case .string(let text): add(tag: 3, Array(text.utf8))
    case .blob(let bytes): add(tag: 4, Array(bytes))
    }
  }

  private mutating func add(tag: UInt8, _ bytes: [UInt8]) {
    add(tag: tag, UInt64(bytes.count))
    for byte in bytes { add(byte) }
  }

  private mutating func add(tag: UInt8, _ bits: UInt64) {
    add(tag)
    for shift in stride(from: 56, through: 0, by: -8) { add(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
  }

  private static let table: [UInt64] = (0..<256).map { byte in
    (0..<8).reduce(UInt64(byte)) { rest, _ in rest & 1 == 0 ? rest >> 1 : rest >> 1 ^ 0xC96C_5795_D787_0F42 }
  }
}
