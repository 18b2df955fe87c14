/// An IPv4 or IPv6 address, as bytes.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64
  let isSix: Bool

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

  public var description: String {
    guard isSix else { return (0..<4).map { String(low >> (24 - 8 * UInt64($0)) & 0xFF) }.joined(separator: ".") }
    return [high, low].flatMap { half in (0..<4).map { String(half >> (48 - 16 * UInt64($0)) & 0xFFFF, radix: 16) } }
      .joined(separator: ":")
  }
}

/// An IP packet with UDP or ICMP in it, the first or only fragment.
struct IPDatagram {
  enum Transport { case udp, icmp }

  let source: IPAddress
  let destination: IPAddress
  let isSix: Bool
  let transport: Transport
  /// The transport's header and what follows, as far as it was captured.
  let payload: Bytes
  /// How long that was on the wire.
  let length: Int

  /// - Parameter bytes: May be cut off anywhere behind the IP header, as by the capture or in an ICMP error.
  init?(_ bytes: Bytes) {
    switch bytes[0].map({ $0 >> 4 }) {
    case 4: self.init(four: bytes)
    case 6: self.init(six: bytes)
    default: return nil
    }
  }

  private init?(four bytes: Bytes) {
    guard let first = bytes[0], let total = bytes.u16(2).map(Int.init), let fragment = bytes.u16(6),
      fragment & 0x1FFF == 0, let number = bytes[9], let source = IPAddress(bytes.slice(12, 4)),
      let destination = IPAddress(bytes.slice(16, 4))
    else { return nil }
    let header = Int(first & 0xF) * 4
    guard header >= 20, total >= header + 8, let rest = bytes.dropping(header) else { return nil }
    switch number {
    case 17: transport = .udp
    case 1: transport = .icmp
    default: return nil
    }
    (self.source, self.destination, isSix, length) = (source, destination, false, total - header)
    // A short Ethernet frame is padded.
    payload = rest.prefix(total - header)
  }

  private init?(six bytes: Bytes) {
    guard let total = bytes.u16(4).map(Int.init), var number = bytes[6], let source = IPAddress(bytes.slice(8, 16)),
      let destination = IPAddress(bytes.slice(24, 16)), var rest = bytes.dropping(40)
    else { return nil }
    var length = total
    // Hop-by-hop, routing and destination options; more than a few are nobody's we know.
    for _ in 0..<4 where [0, 43, 60].contains(number) {
      guard let next = rest[0], let size = rest[1].map({ (Int($0) + 1) * 8 }), let behind = rest.dropping(size)
      else { return nil }
      (number, rest, length) = (next, behind, length - size)
    }
    guard length >= 8 else { return nil }
    switch number {
    case 17: transport = .udp
    case 58: transport = .icmp
    default: return nil
    }
    (self.source, self.destination, isSix, self.length) = (source, destination, true, length)
    payload = rest.prefix(length)
  }

  /// Whether a socket would take it: true also where that cannot be told, as only a part was captured, and where the
  /// checksum was left to a network card that was never passed (on veth and loopback it then is the sum of the addresses
  /// alone).
  var hasGoodChecksum: Bool {
    guard payload.count == length else { return true }
    let field = payload.u16(transport == .udp ? 6 : 2) ?? 0
    if transport == .udp, !isSix, field == 0 { return true }
    let addresses = transport == .icmp && !isSix ? 0 : pseudoHeader
    return Self.folded(addresses + sum) == 0xFFFF || (addresses != 0 && field == Self.folded(addresses))
  }

  private var pseudoHeader: UInt64 {
    let words = [source.high, source.low, destination.high, destination.low].flatMap { half in
      (0..<4).map { half >> (16 * UInt64($0)) & 0xFFFF }
    }
    let number: UInt64 = transport == .udp ? 17 : isSix ? 58 : 1
    return words.reduce(0, +) + UInt64(length) + number
  }

  private var sum: UInt64 {
    var sum: UInt64 = 0
    for offset in stride(from: 0, to: payload.count, by: 2) {
      sum += UInt64(payload[offset] ?? 0) << 8 | UInt64(payload[offset + 1] ?? 0)
    }
    return sum
  }

  private static func folded(_ sum: UInt64) -> UInt16 {
    var sum = sum
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    return UInt16(truncatingIfNeeded: sum)
  }
}
