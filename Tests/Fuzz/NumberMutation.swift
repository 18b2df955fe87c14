/// Changes an input so that arithmetic may overflow: replaces a number by one at the end of a range, lengthens it, or repeats,
/// moves and removes lines. libFuzzer's own mutations change single bytes and keep numbers small.
struct NumberMutation {
  private var random: SeededGenerator

  /// Ends of ranges, years beyond 64 bits of microseconds, spellings that few parsers expect.
  private static let texts = [
    "0", "-1", "1", "60", "0001", "1600", "2262", "2400", "9999", "292277", "294246", "294248", "999999", "65536",
    "2147483647", "2147483648", "-2147483649", "4294967295", "1000000000", "999999999", "1e9", "10000000000",
    "9007199254740993", "1e15", "1e18",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551616", "1e19", "1e39",
    "1e308", "-1e308", "1e-320", "1e400", "-0.0", "253402300800", "9223372036854.775807",
  ].map { Array($0.utf8) }

  private static let years = ["0001", "1600", "1969", "2038", "2262", "2400", "9999", "294246", "999999"].map {
    Array($0.utf8)
  }

  private static let words: [UInt64] = [
    0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000, 0xFFFF_FFFF_FFFF_FFFF,
  ]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func coin() -> Bool { random.next() & 1 == 0 }

  /// One to three changes.
  mutating func changed(_ input: [UInt8]) -> [UInt8] {
    var bytes = input
    for _ in 0...below(3) {
      switch below(9) {
      case 0: changeLine(&bytes)
      case 1: changeWord(&bytes)
      case 2: lengthenNumber(&bytes)
      case 3: replaceYear(&bytes)
      case 4...5: replaceNumber(&bytes, with: Self.isPartOfNumber)
      default: replaceNumber(&bytes, with: Self.isDigit)
      }
    }
    return bytes
  }

  // MARK: Numbers in text

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    isDigit(byte) || [UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e")].contains(byte)
  }

  /// The run of `isPart` around a random digit; `nil` when there is no digit.
  private mutating func number(in bytes: [UInt8], with isPart: (UInt8) -> Bool) -> Range<Int>? {
    guard !bytes.isEmpty else { return nil }
    let start = below(bytes.count)
    guard let digit = bytes[start...].firstIndex(where: Self.isDigit) ?? bytes.firstIndex(where: Self.isDigit) else {
      return nil
    }
    let from = bytes[..<digit].lastIndex { !isPart($0) }.map { $0 + 1 } ?? 0
    return from..<(bytes[digit...].firstIndex { !isPart($0) } ?? bytes.endIndex)
  }

  private mutating func replaceNumber(_ bytes: inout [UInt8], with isPart: (UInt8) -> Bool) {
    guard let range = number(in: bytes, with: isPart) else { return }
    bytes.replaceSubrange(range, with: Self.texts[below(Self.texts.count)])
  }

  /// Four digits that begin with 20 are usually a year.
  private mutating func replaceYear(_ bytes: inout [UInt8]) {
    let years = bytes.indices.filter { index in
      bytes[index...].starts(with: [0x32, 0x30]) && bytes[index...].prefix(5).filter(Self.isDigit).count == 4
        && !(index > 0 && Self.isDigit(bytes[index - 1]))
    }
    guard !years.isEmpty else { return }
    let year = years[below(years.count)]
    bytes.replaceSubrange(year..<year + 4, with: Self.years[below(Self.years.count)])
  }

  private mutating func lengthenNumber(_ bytes: inout [UInt8]) {
    guard let range = number(in: bytes, with: Self.isDigit) else { return }
    let digits = (0...below(12)).map { _ in UInt8(0x30 + below(10)) }
    bytes.insert(contentsOf: digits, at: range.upperBound)
  }

  // MARK: Numbers in binary formats, lines

  private mutating func changeWord(_ bytes: inout [UInt8]) {
    let width = [1, 2, 4, 8][below(4)]
    guard bytes.count >= width else { return }
    let start = below(bytes.count - width + 1)
    let word = Self.words[below(Self.words.count)]
    for index in 0..<width { bytes[start + index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * index)) }
  }

  private mutating func changeLine(_ bytes: inout [UInt8]) {
    var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    let line = below(lines.count)
    switch below(3) {
    case 0: lines.insert(lines[line], at: below(lines.count))
    case 1: lines.swapAt(line, below(lines.count))
    default: lines.remove(at: line)
    }
    bytes = Array(lines.joined(separator: [0x0A]))
  }

  // MARK: Chance

  /// - Precondition: `bound` is more than 0.
  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
}
