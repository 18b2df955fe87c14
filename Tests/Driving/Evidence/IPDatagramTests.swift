import Testing

@testable import Driving

/// IP packets byte by byte: the packets that a pinger's socket would have accepted.
struct IPDatagramTests {
  /// Sets the correct transport checksum in an IPv6 packet.
  private static func withChecksum(_ packet: [UInt8], header: Int, field: Int, number: UInt8) -> [UInt8] {
    var packet = packet
    let length = packet.count - header
    packet[header + field] = 0
    packet[header + field + 1] = 0
    var words = Array(packet[8..<40]) + Wire.big(UInt32(length)) + [0, 0, 0, number] + packet[header...]
    if words.count % 2 == 1 { words.append(0) }
    var sum = stride(from: 0, to: words.count, by: 2).reduce(0) { $0 + Int(words[$1]) << 8 + Int(words[$1 + 1]) }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    packet.replaceSubrange(header + field..<header + field + 2, with: Wire.big(~UInt16(sum)))
    return packet
  }

  private static let us6 = hex("2001 0db8 0000 0000 0000 0000 0000 0001")
  private static let server6 = hex("2001 0db8 0000 0000 0000 0000 0000 0002")

  /// An IPv6 packet; `options` are extension headers before the payload, each with the number of the next one.
  private static func six(_ next: UInt8, from: [UInt8], to: [UInt8], options: [UInt8] = [], _ payload: [UInt8])
    -> [UInt8]
  {
    [0x60, 0, 0, 0] + Wire.big(UInt16(options.count + payload.count)) + [next, 64] + from + to + options + payload
  }

  private static func reply6(options: [UInt8] = [], next: UInt8 = 17) -> [UInt8] {
    withChecksum(
      six(
        next, from: server6, to: us6, options: options, Wire.udp(444, 4000, Array("RR01".utf8) + Wire.big(UInt32(7)))),
      header: 40 + options.count, field: 6, number: 17)
  }

  private func probe(_ bytes: [UInt8]) -> ProbePacket? {
    ProbePacket(CapturedPacket(stamp: 1, linkType: 101, bytes: Bytes(bytes)))
  }

  @Test("when a reply comes by IPv6, then its key has the addresses, the port and the sequence")
  func six() throws {
    let packet = try #require(probe(Self.reply6()))
    #expect(packet.kind == .answer)
    #expect(packet.key.remote.description == "2001:db8:0:0:0:0:0:2")
    #expect((packet.key.port, packet.key.local, packet.key.sequence) == (444, 4000, 7))
  }

  @Test("when extension headers stand before the payload, then they are skipped, up to four of them")
  func extensionHeaders() {
    // Hop-by-hop (8 bytes), then destination options (16 bytes), then UDP.
    let options = hex("3C00 0104 00000000  1101 0104 00000000 0104 00000000 0000")
    #expect(probe(Self.reply6(options: options, next: 0))?.key.sequence == 7)
    let four = hex("0000010400000000 0000010400000000 0000010400000000 1100010400000000")
    #expect(probe(Self.reply6(options: four, next: 0))?.key.sequence == 7)
    let five = hex("0000010400000000") + four
    #expect(probe(Self.reply6(options: five, next: 0)) == nil)
  }

  @Test("when an extension header claims more bytes than there are, then the packet is foreign")
  func longExtensionHeader() {
    #expect(probe(Self.reply6(options: hex("11FF 0104 00000000"), next: 0)) == nil)
    #expect(probe(Self.six(0, from: Self.server6, to: Self.us6, [0x11])) == nil)
    #expect(probe(Self.six(0, from: Self.server6, to: Self.us6, [])) == nil)
  }

  @Test("when IPv4 has options, then the transport is behind them; a header shorter than 20 bytes is invalid")
  func options() {
    let plain = Wire.request(9)
    var long = Array(plain.prefix(20)) + [1, 1, 1, 0] + plain.dropFirst(20)
    long[0] = 0x46
    long.replaceSubrange(2..<4, with: Wire.big(UInt16(long.count)))
    #expect(probe(long)?.key.sequence == 9)
    var short = plain
    short[0] = 0x44
    #expect(probe(short) == nil)
  }

  @Test("when a packet is a later fragment, then it is foreign; a first fragment or an unfragmentable packet is read")
  func fragments() {
    for (field, isRead) in [
      ([0x40, 0x00], true), ([0x20, 0x00], true), ([0x00, 0x01], false), ([0x1F, 0xFF], false),
    ]
      as [([UInt8], Bool)]
    {
      var packet = Wire.request(1)
      packet.replaceSubrange(6..<8, with: field)
      #expect((probe(packet) != nil) == isRead, "\(field)")
    }
  }

  @Test("when a request is longer or shorter than a ping, or has another magic, then it is foreign")
  func otherRequests() {
    func request(_ magic: String, _ token: Int) -> [UInt8] {
      Wire.ip(
        17, from: Wire.us, to: Wire.server,
        Wire.udp(4000, 444, Array(magic.utf8) + Wire.big(UInt32(1)) + [UInt8](repeating: 7, count: token)))
    }
    #expect(probe(request("RP01", 16))?.kind == .request)
    for (magic, token) in [("RP01", 15), ("RP01", 17), ("RP02", 16), ("rp01", 16), ("RR01", 16)] {
      #expect(probe(request(magic, token))?.kind != .request, "\(magic) \(token)")
    }
  }

  @Test("when a UDP checksum is absent, then IPv4 accepts the reply and IPv6 does not")
  func absentChecksum() {
    #expect(probe(Wire.reply(1))?.kind == .answer)
    var six = Self.reply6()
    six.replaceSubrange(46..<48, with: [0, 0])
    #expect(probe(six) == nil)
  }

  @Test(
    "when a checksum is wrong, then the reply is foreign; a partial checksum for the network card to complete is accepted"
  )
  func checksums() {
    var wrong = Self.reply6()
    wrong[wrong.count - 1] ^= 1
    #expect(probe(wrong) == nil)
    var partial = Self.reply6()
    // The sum of the pseudo-header alone, as on loopback.
    let words = Array(partial[8..<40]) + Wire.big(UInt32(16)) + [0, 0, 0, 17]
    var sum = stride(from: 0, to: words.count, by: 2).reduce(0) { $0 + Int(words[$1]) << 8 + Int(words[$1 + 1]) }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    partial.replaceSubrange(46..<48, with: Wire.big(UInt16(sum)))
    #expect(probe(partial)?.kind == .answer)
  }

  @Test("when a short Ethernet frame is padded, then the padding is no part of the packet, nor of its checksum")
  func padding() {
    let frame = [UInt8](repeating: 2, count: 12) + [0x86, 0xDD] + Self.reply6() + [9, 9, 9]
    let packet = CapturedPacket(stamp: 1, linkType: 1, bytes: Bytes(frame))
    #expect(ProbePacket(packet)?.key.sequence == 7)
  }

  @Test("when a frame has two VLAN tags, then the packet behind them is read; a frame of another protocol is foreign")
  func tags() {
    let addresses = [UInt8](repeating: 2, count: 12)
    func frame(_ tags: [UInt8]) -> CapturedPacket {
      CapturedPacket(stamp: 1, linkType: 1, bytes: Bytes(addresses + tags + Wire.request(3)))
    }
    #expect(ProbePacket(frame(hex("88A8 0005 8100 0006 0800")))?.key.sequence == 3)
    #expect(ProbePacket(frame(hex("0806"))) == nil)
    #expect(ProbePacket(frame(hex("8100 0005"))) == nil)
    #expect(ProbePacket(CapturedPacket(stamp: 1, linkType: 1, bytes: Bytes(addresses + hex("8100")))) == nil)
  }

  @Test("when an ICMPv6 error quotes a request, then the request's ping has failed; other ICMPv6 types are foreign")
  func errors6() {
    let request = Self.six(
      17, from: Self.us6, to: Self.server6,
      Wire.udp(4000, 444, Array("RP01".utf8) + Wire.big(UInt32(5)) + [UInt8](repeating: 7, count: 16)))
    func error(_ type: UInt8) -> ProbePacket? {
      probe(Self.six(58, from: Self.server6, to: Self.us6, [type, 4, 0, 0, 0, 0, 0, 0] + request))
    }
    for type in [1, 2, 3, 4] as [UInt8] {
      #expect(error(type)?.kind == .error)
      #expect(error(type)?.key.sequence == 5)
    }
    for type in [0, 5, 100, 133, 255] as [UInt8] { #expect(error(type) == nil, "\(type)") }
  }

  @Test("when an error quotes an error, then it belongs to no ping")
  func nestedErrors() {
    let inner = Wire.error(about: Wire.request(1))
    #expect(probe(inner)?.kind == .error)
    #expect(probe(Wire.error(about: inner, quoted: inner.count)) == nil)
  }

  @Test("when the protocol or the IP version is another one, then the packet is foreign")
  func foreign() {
    #expect(probe(Wire.ip(6, from: Wire.us, to: Wire.server, [UInt8](repeating: 0, count: 20))) == nil)
    #expect(probe(Self.six(6, from: Self.us6, to: Self.server6, [UInt8](repeating: 0, count: 20))) == nil)
    for version in [0x00, 0x55, 0xF5] as [UInt8] { #expect(probe([version] + Wire.request(1).dropFirst()) == nil) }
  }
}
