import Testing

@testable import Driving

/// Blocks and options of pcapng, and link headers, that other programs write.
struct CaptureBlockTests {
  private static let section = hex("0A0D0D0A 1C000000 4D3C2B1A 0100 0000 FFFFFFFF FFFFFFFF 1C000000")
  private static let rawIP = hex("01000000 20000000 6500 0000 00000000 0900 0100 09000000 0000 0000 20000000")
  private static let packet = hex(
    "06000000 24000000 00000000 00000000 05000000 02000000 02000000 45000000 24000000")

  @Test(
    "when a block is damaged, then reading stops there, and the reason names the byte",
    arguments: [
      ("0A0D0D0A 1C000000 4D3C2B1A 0200 0000 FFFFFFFF FFFFFFFF 1C000000", "an unknown version"),
      ("0A0D0D0A 1C000000 00000000 0100 0000 FFFFFFFF FFFFFFFF 1C000000", "a section without a byte order"),
      ("01000000 10000000 6500 0000 10000000", "an interface is too short"),
      ("06000000 0D000000 00000000 0D000000", "a block of 13 bytes"), ("06000000 08000000", "a block of 8 bytes"),
      ("06000000 FCFFFF7F 00000000", "a block is cut off"),
      ("06000000 10000000 00000000 14000000", "the two lengths of a block differ"),
    ])
  func damage(block: String, reason: String) throws {
    let file = try CaptureFile(Self.section + Self.rawIP + Self.packet + hex(block) + Self.packet)
    #expect(file.damage == "at byte 96: \(reason)")
    #expect(file.packets.count == 1, "packets before the damage count")
  }

  @Test("when packets have no time, then they are counted as unusable, and the next ones are read")
  func withoutTime() throws {
    let simple = hex("03000000 14000000 02000000 45000000 14000000")
    let obsolete = hex("02000000 10000000 00000000 10000000")
    let file = try CaptureFile(Self.section + Self.rawIP + simple + obsolete + Self.packet)
    #expect((file.unusable, file.packets.count) == (2, 1))
    #expect(file.damage == nil)
  }

  @Test("when an interface has a time offset, then the offset is added to each stamp")
  func origin() throws {
    // if_tsresol 10^-9, if_tsoffset 100 s.
    let interface = hex(
      "01000000 2C000000 6500 0000 00000000 0900 0100 09000000 0E00 0800 6400000000000000 0000 0000 2C000000")
    #expect(try CaptureFile(Self.section + interface + Self.packet).packets.map(\.stamp) == [100_000_000_005])
  }

  @Test("when several interfaces have counters, then their sum counts; an incomplete file has no counters")
  func statistics() throws {
    let counters = hex(
      """
      05000000 30000000 00000000 00000000 00000000
      0600 0800 0A00000000000000 | passed the filter: 10
      0800 0800 0900000000000000 | in the file: 9
      30000000
      """)
    let file = try CaptureFile(Self.section + Self.rawIP + counters + counters)
    #expect(file.statistics == CaptureStatistics(accepted: 20, delivered: 18, dropped: 0))
    #expect(file.statistics?.missing == 2)
    #expect(try CaptureFile(Self.section + Self.rawIP).statistics == nil)
  }

  @Test(
    "when the type of the link header is known, then the packet behind it is found; otherwise the packet is foreign",
    arguments: [(12, 0), (101, 0), (228, 0), (229, 0), (113, 16), (276, 20), (0, 0), (105, 0), (276, 16)])
  func links(type: UInt16, header: Int) {
    let bytes = [UInt8](repeating: 0, count: header) + Wire.request(3)
    let result = RoundTrips([CapturedPacket(stamp: 1, linkType: type, bytes: Bytes(bytes))])
    let isKnown = ![0, 105].contains(type) && !(type == 276 && header == 16)
    #expect((result.trips.count, result.foreign) == (isKnown ? 1 : 0, isKnown ? 0 : 1))
  }

  // MARK: Echoes and errors

  @Test("when the payload of an echo has no 32-bit number, then the 16-bit number of the header counts")
  func shortEcho() {
    func echo(_ payload: [UInt8]) -> ProbePacket? {
      let message = [8, 0, 0, 0] + Wire.big(UInt16(77)) + Wire.big(UInt16(600)) + payload
      return ProbePacket(captured(1, Wire.ip(1, from: Wire.us, to: Wire.server, message)))
    }
    #expect(echo([])?.key.sequence == 600)
    #expect(echo([1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0])?.key.sequence == 600)
    #expect(echo([1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 0])?.key.sequence == 65_536)
    #expect(echo([])?.key.port == nil && echo([])?.key.local == 77)
  }

  @Test(
    "when an ICMP message quotes a request, then only types 3, 11 and 12 mean that the ping failed",
    arguments: [(3, true), (11, true), (12, true), (4, false), (5, false), (0, false), (8, false)] as [(UInt8, Bool)])
  func errorTypes(type: UInt8, isError: Bool) {
    let message = [type, 1, 0, 0, 0, 0, 0, 0] + Wire.request(9)
    let packet = ProbePacket(captured(1, Wire.ip(1, from: [10, 0, 0, 9], to: Wire.us, message)))
    #expect((packet?.kind == .error) == isError)
    if isError { #expect(packet?.key.sequence == 9) }
  }

  @Test("when a reply is for another port or from another host, then it answers no ping of this flow")
  func otherPeers() {
    func reply(from: [UInt8], _ source: UInt16, _ destination: UInt16) -> CapturedPacket {
      captured(
        5, Wire.ip(17, from: from, to: Wire.us, Wire.udp(source, destination, Array("RR01".utf8) + [0, 0, 0, 1])))
    }
    for other in [
      reply(from: [10, 0, 0, 3], 444, 4000), reply(from: Wire.server, 445, 4000), reply(from: Wire.server, 444, 4001),
    ] {
      let result = RoundTrips([captured(1, Wire.request(1)), other])
      #expect(result.trips.map(\.answeredAt) == [nil])
      #expect(result.orphans == 1)
    }
    #expect(RoundTrips([captured(1, Wire.request(1)), reply(from: Wire.server, 444, 4000)]).orphans == 0)
  }
}
