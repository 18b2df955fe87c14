/// Untrusted bytes. Every access is checked; outside of the bytes it yields `nil`.
struct Bytes: Sendable {
  private let storage: [UInt8]
  private let range: Range<Int>

  init(_ storage: [UInt8]) { self.init(storage: storage, range: storage.indices) }

  private init(storage: [UInt8], range: Range<Int>) {
    self.storage = storage
    self.range = range
  }

  var count: Int { range.count }

  subscript(offset: Int) -> UInt8? {
    offset >= 0 && offset < count ? storage[range.lowerBound + offset] : nil
  }

  /// `length` bytes from `offset` on; `nil` when there are fewer.
  func slice(_ offset: Int, _ length: Int) -> Bytes? {
    guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
    let start = range.lowerBound + offset
    return Bytes(storage: storage, range: start..<start + length)
  }

  /// The bytes from `offset` on.
  func dropping(_ offset: Int) -> Bytes? { slice(offset, count - offset) }

  func prefix(_ length: Int) -> Bytes { slice(0, min(max(0, length), count)) ?? self }

  func starts(with text: StaticString) -> Bool {
    guard text.utf8CodeUnitCount <= count else { return false }
    return text.withUTF8Buffer { buffer in
      buffer.enumerated().allSatisfy { storage[range.lowerBound + $0.offset] == $0.element }
    }
  }

  var array: [UInt8] { Array(storage[range]) }

  // Big-endian.

  func u16(_ offset: Int) -> UInt16? { integer(offset, 2).map { UInt16(truncatingIfNeeded: $0) } }

  func u32(_ offset: Int) -> UInt32? { integer(offset, 4).map { UInt32(truncatingIfNeeded: $0) } }

  func u64(_ offset: Int) -> UInt64? { integer(offset, 8) }

  private func integer(_ offset: Int, _ width: Int) -> UInt64? {
    guard offset >= 0, width <= count, offset <= count - width else { return nil }
    return (0..<width).reduce(0) { value, i in value << 8 | UInt64(storage[range.lowerBound + offset + i]) }
  }
}
