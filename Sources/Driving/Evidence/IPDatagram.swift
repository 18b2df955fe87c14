/// An IP packet that contains UDP or ICMP, unfragmented or the first fragment.
struct IPDatagram {
  enum Transport { case udp, icmp }

  let source: IPAddress
  let destination: IPAddress
  let isSix: Bool
  let transport: Transport
  /// The transport's header and the bytes behind it, as far as they were captured.
  let payload: Bytes
  /// The length of ``payload`` on the wire, in bytes.
  let length: Int

  /// `nil` for other packets.
  /// - Parameter bytes: The packet. It can be cut off behind the IP header, by the capture or in an ICMP error.
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
    // Without the padding of a short Ethernet frame.
    payload = rest.prefix(total - header)
  }

  private init?(six bytes: Bytes) {
    guard let total = bytes.u16(4).map(Int.init), var number = bytes[6], let source = IPAddress(bytes.slice(8, 16)),
      let destination = IPAddress(bytes.slice(24, 16)), var rest = bytes.dropping(40)
    else { return nil }
    var length = total
    // Hop-by-hop, routing and destination options; a probe's packet has no more than four.
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

  /// Whether a socket would accept the packet. `true` also for a packet that was captured in part, and for one whose checksum was left to
  /// the network card and never completed: on veth and loopback it is then the sum of the pseudo-header alone.
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
