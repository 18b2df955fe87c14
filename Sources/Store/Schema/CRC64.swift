/// The CRC-64/XZ over a row's values, each with its type and, if that varies, its length.
struct CRC64 {
  private var state = UInt64.max

  var value: UInt64 { ~state }

  mutating func addNull() { add(byte: 0) }

  mutating func add(_ integer: Int64) { add(tag: 1, UInt64(bitPattern: integer)) }

  /// An integral value counts the same in a column of real numbers: SQLite stores it as an integer there.
  mutating func add(_ number: Double) {
    if let whole = Int64(exactly: number) { add(whole) } else { add(tag: 2, number.bitPattern) }
  }

  mutating func add(text: some Collection<UInt8>) { add(tag: 3, text) }

  mutating func add(blob: some Collection<UInt8>) { add(tag: 4, blob) }

  private mutating func add(tag: UInt8, _ bytes: some Collection<UInt8>) {
    add(tag: tag, UInt64(bytes.count))
    for byte in bytes { add(byte: byte) }
  }

  private mutating func add(tag: UInt8, _ bits: UInt64) {
    add(byte: tag)
    add(bits: bits)
  }

  mutating func add(byte: UInt8) {
    state = Self.tables[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8)
  }

  /// Adds eight bytes at once, the most significant one first.
  private mutating func add(bits: UInt64) {
    let tables = Self.tables
    var rest = state ^ bits.byteSwapped
    var sum: UInt64 = 0
    // A range costs a debug build most of a pass.
    var table = 7 << 8
    while table >= 0 {
      sum ^= tables[table | Int(UInt8(truncatingIfNeeded: rest))]
      rest >>= 8
      table -= 1 << 8
    }
    state = sum
  }

  /// Eight tables: the n-th has the effect of a byte that n zero bytes follow.
  private static let tables: [UInt64] = {
    var tables = (0..<256).map(share)
    for index in 256..<2048 {
      let former = tables[index - 256]
      tables.append(tables[Int(UInt8(truncatingIfNeeded: former))] ^ former >> 8)
    }
    return tables
  }()

  private static func share(_ byte: UInt64) -> UInt64 {
    (0..<8).reduce(byte) { rest, _ in rest & 1 == 0 ? rest >> 1 : rest >> 1 ^ 0xC96C_5795_D787_0F42 }
  }
}
