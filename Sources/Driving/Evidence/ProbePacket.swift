/// A packet of a ping: its kind, and the ping to which it belongs.
struct ProbePacket: Hashable {
  enum Kind: Hashable {
    case request
    /// A reply.
    case answer
    /// A refusal of the token (RE01).
    case refusal
    /// An ICMP error about a request.
    case error
  }

  let kind: Kind
  let key: PingKey

  /// `nil` for packets other than RTR pings, echo requests, replies to them and ICMP errors about them, and for replies with a wrong
  /// checksum, which the kernel drops.
  init?(_ packet: CapturedPacket) {
    guard let network = Self.network(packet), let datagram = IPDatagram(network) else { return nil }
    self.init(datagram)
  }

  private init?(_ datagram: IPDatagram) {
    if let request = Self.request(datagram) {
      (kind, key) = (.request, request)
    } else if let reply = Self.reply(datagram) {
      (kind, key) = reply
    } else if let quoted = Self.quoted(datagram) {
      (kind, key) = (.error, quoted)
    } else {
      return nil
    }
  }

  /// The packet behind the link's header.
  private static func network(_ packet: CapturedPacket) -> Bytes? {
    let bytes = packet.bytes
    switch packet.linkType {
    case 1: return ethernet(bytes)
    case 12, 101, 228, 229: return bytes
    case 113: return bytes.dropping(16)
    case 276: return bytes.dropping(20)
    default: return nil
    }
  }

  private static func ethernet(_ bytes: Bytes) -> Bytes? {
    var offset = 12
    while let type = bytes.u16(offset), [0x8100, 0x88A8].contains(type) { offset += 4 }
    guard let type = bytes.u16(offset), [0x0800, 0x86DD].contains(type) else { return nil }
    return bytes.dropping(offset + 2)
  }

  // UDP echo: the reply is the request; the destination port that the payload names tells which is which (docs/protocol.md, 1.6).
  // RTR: "RP01" + sequence + token one way, "RR01" or "RE01" + sequence the other (docs/protocol.md, 1.1). Echo: the
  // reply has the request's identifier, sequence and payload.

  /// The key of a datagram of UDP echo that goes to, or comes from, the port at `offset` of its header.
  private static func udpEcho(_ message: Bytes, port offset: Int, local: Int, _ remote: IPAddress) -> PingKey? {
    guard message.dropping(8)?.starts(with: "CPE1") == true, let port = message.u16(offset), message.u16(24) == port,
      let sequence = message.u32(12), let token = message.u64(16), let local = message.u16(local)
    else { return nil }
    return PingKey(remote: remote, port: port, local: local, sequence: sequence, token: token)
  }

  private static func request(_ datagram: IPDatagram) -> PingKey? {
    let message = datagram.payload
    switch datagram.transport {
    case .udp where message.dropping(8)?.starts(with: "CPE1") == true:
      return udpEcho(message, port: 2, local: 0, datagram.destination)
    case .udp where message.dropping(8)?.starts(with: "RP01") == true:
      guard datagram.length == 32, let sequence = message.u32(12), let local = message.u16(0),
        let port = message.u16(2)
      else { return nil }
      return PingKey(remote: datagram.destination, port: port, local: local, sequence: sequence)
    case .icmp where message[0] == (datagram.isSix ? 128 : 8) && message[1] == 0:
      return echo(message, datagram.destination)
    default: return nil
    }
  }

  private static func reply(_ datagram: IPDatagram) -> (Kind, PingKey)? {
    let message = datagram.payload
    switch datagram.transport {
    case .udp:
      guard let payload = message.dropping(8), let sequence = message.u32(12), let local = message.u16(2),
        let port = message.u16(0), datagram.hasGoodChecksum
      else { return nil }
      let key = PingKey(remote: datagram.source, port: port, local: local, sequence: sequence)
      if let echo = udpEcho(message, port: 0, local: 2, datagram.source) { return (.answer, echo) }
      if payload.starts(with: "RR01") { return (.answer, key) }
      return payload.starts(with: "RE01") ? (.refusal, key) : nil
    case .icmp:
      guard message[0] == (datagram.isSix ? 129 : 0), message[1] == 0, datagram.hasGoodChecksum else { return nil }
      return echo(message, datagram.source).map { (.answer, $0) }
    }
  }

  private static func echo(_ message: Bytes, _ remote: IPAddress) -> PingKey? {
    guard let identifier = message.u16(4), let sequence = message.u16(6) else { return nil }
    // The sequence number of ICMP wraps after 65536 pings; the 32 bits in the payload do not.
    let payload = message.dropping(8)
    let token = payload?.u64(0) ?? 0
    return PingKey(
      remote: remote, port: nil, local: identifier, sequence: payload?.u32(8) ?? UInt32(sequence), token: token,
      wireSequence: sequence)
  }

  private static func quoted(_ datagram: IPDatagram) -> PingKey? {
    guard datagram.transport == .icmp, let type = datagram.payload[0],
      datagram.isSix ? (1...4).contains(type) : [3, 11, 12].contains(type),
      let quote = datagram.payload.dropping(8).flatMap({ IPDatagram($0) })
    else { return nil }
    return request(quote)
  }
}

/// The values of a ping's packets that identify the ping on the wire.
public struct PingKey: Hashable, Sendable {
  /// The address that is pinged.
  public let remote: IPAddress
  /// The UDP port of ``remote``; `nil` for ICMP.
  public let port: UInt16?
  /// The local UDP port, or the echo identifier.
  public let local: UInt16
  /// RTR: the sequence number on the wire. ICMP: the 32 bits of it that CPinger writes into the payload.
  public let sequence: UInt32
  /// ICMP: the first 8 bytes of the payload.
  var token: UInt64 = 0
  /// ICMP: the 16 bits of the sequence number in the header.
  var wireSequence: UInt16 = 0
}
