import Testing

@testable import Driving

/// Link headers that programs write, and packets that are no pings.
struct ProbePacketTests {
  @Test(
    "when the type of the link header is known, then the packet behind it is found; otherwise the packet is foreign",
    arguments: [(12, 0), (101, 0), (228, 0), (229, 0), (113, 16), (276, 20), (0, 0), (105, 0), (276, 16)])
  func links(type: UInt16, header: Int) {
    let bytes = [UInt8](repeating: 0, count: header) + Wire.request(3)
    let result = RoundTrips([CapturedPacket(stamp: 1, linkType: type, bytes: Bytes(bytes))])
    let isKnown = ![0, 105].contains(type) && !(type == 276 && header == 16)
    #expect((result.trips.count, result.foreign) == (isKnown ? 1 : 0, isKnown ? 0 : 1))
  }

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

  @Test("when a datagram is UDP echo, then the port in it tells the request from the reply, which are the same bytes")
  func udpEcho() {
    let payload =
      Array("CPE1".utf8) + Wire.big(UInt32(9)) + [1, 2, 3, 4, 5, 6, 7, 8] + Wire.big(UInt16(7)) + [5, 5, 5, 5]
    let request = captured(1, Wire.ip(17, from: Wire.us, to: Wire.server, Wire.udp(4000, 7, payload)))
    let reply = captured(5, Wire.ip(17, from: Wire.server, to: Wire.us, Wire.udp(7, 4000, payload)))
    #expect(ProbePacket(request)?.kind == .request && ProbePacket(reply)?.kind == .answer)
    #expect(ProbePacket(request)?.key == ProbePacket(reply)?.key)
    let result = RoundTrips([request, reply])
    #expect((result.trips.count, result.orphans, result.foreign) == (1, 0, 0))
    #expect(result.trips.first?.answeredAt != nil)
    // Of another program, and cut off before the port.
    let other = captured(7, Wire.ip(17, from: Wire.us, to: Wire.server, Wire.udp(4000, 8, payload)))
    #expect(ProbePacket(other) == nil)
    let short = captured(8, Wire.ip(17, from: Wire.us, to: Wire.server, Wire.udp(4000, 7, Array(payload.prefix(16)))))
    #expect(ProbePacket(short) == nil)
    let error = captured(9, Wire.error(about: request.bytes.array))
    #expect(ProbePacket(error)?.kind == .error && ProbePacket(error)?.key == ProbePacket(request)?.key)
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
