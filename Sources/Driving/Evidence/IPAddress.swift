/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64
  let isSix: Bool

  /// The address in 4 or 16 bytes; `nil` for another number of bytes.
  init?(_ bytes: Bytes?) {
    guard let bytes else { return nil }
    if bytes.count == 4, let low = bytes.u32(0) {
      (high, self.low, isSix) = (0, UInt64(low), false)
    } else if bytes.count == 16, let high = bytes.u64(0), let low = bytes.u64(8) {
      (self.high, self.low, isSix) = (high, low, true)
    } else {
      return nil
    }
  }

  /// The address in numbers, e.g. `192.0.2.1`; for IPv6 without `::`.
  public var description: String {
    guard isSix else { return (0..<4).map { String(low >> (24 - 8 * UInt64($0)) & 0xFF) }.joined(separator: ".") }
    return [high, low].flatMap { half in (0..<4).map { String(half >> (48 - 16 * UInt64($0)) & 0xFFFF, radix: 16) } }
      .joined(separator: ":")
  }
}
