import Testing

@testable import Driving

/// The pings in captured packets.
struct RoundTripTests {
  @Test("when requests have replies, then each has its round-trip time, in any order of the packets")
  func pairs() {
    let packets = [
      captured(3_000, Wire.request(2)), captured(1_000, Wire.request(1)), captured(4_500, Wire.reply(1)),
      captured(3_250, Wire.reply(2)), captured(5_000, Wire.request(3)),
    ]
    let trips = RoundTrips(packets).trips
    #expect(trips.map(\.key.sequence) == [1, 2, 3])
    #expect(trips.map(\.rttNanoseconds) == [3_500_000, 250_000, nil])
    #expect(trips.first?.key.remote.description == "10.0.0.2")
    #expect(trips.first?.key.port == 444)
    #expect(trips.first?.key.local == 4000)
  }

  @Test("when a reply is RE01, then the ping is refused")
  func refusal() {
    let trips = RoundTrips([captured(1, Wire.request(1)), captured(9, Wire.reply(1, "RE01"))]).trips
    #expect(trips.map(\.isRefused) == [true])
  }

  @Test("when packets repeat, then the first one is used, and the others are counted as copies")
  func duplicates() {
    let trips = RoundTrips([
      captured(1, Wire.request(1)), captured(2, Wire.request(1)), captured(10, Wire.reply(1)),
      captured(11, Wire.reply(1)), captured(12, Wire.reply(1, "RE01")),
    ]).trips
    #expect(trips.map(\.rttNanoseconds) == [9000])
    #expect(trips.map(\.copies) == [1])
    #expect(trips.map(\.duplicates) == [2])
    #expect(trips.map(\.isRefused) == [false])
  }

  @Test("when echo sequences wrap around, then the payload distinguishes the pings")
  func echoes() {
    let trips = RoundTrips([
      captured(1, Wire.echo(8, sequence: 5, token: 1)), captured(2, Wire.echo(8, sequence: 5, token: 2)),
      captured(5, Wire.echo(0, sequence: 5, token: 2)), captured(9, Wire.echo(0, sequence: 5, token: 1)),
    ]).trips
    #expect(trips.map(\.rttNanoseconds) == [8000, 3000])
  }

  @Test("when a router reports an error, then the ping it quotes has failed, if enough is quoted")
  func errors() {
    let request = Wire.request(1)
    let long = RoundTrips([captured(1, request), captured(2, Wire.error(about: request))])
    #expect(long.trips.map(\.failedAt) == [2000])
    let short = RoundTrips([captured(1, request), captured(2, Wire.error(about: request, quoted: 28))])
    #expect(short.trips.map(\.failedAt) == [nil])
    #expect(short.foreign == 1)
  }

  @Test("when a reply was damaged on its way, then it does not count")
  func damage() {
    var echo = Wire.echo(0, sequence: 5, token: 1)
    echo[echo.count - 1] ^= 4
    let result = RoundTrips([captured(1, Wire.echo(8, sequence: 5, token: 1)), captured(2, echo)])
    #expect(result.trips.map(\.answeredAt) == [nil])
    #expect(result.foreign == 1)
  }

  @Test("when packets are cut off or altered anywhere, then they are foreign at worst")
  func anything() {
    for packet in [
      Wire.request(1), Wire.reply(1), Wire.echo(8, sequence: 1, token: 1), Wire.error(about: Wire.request(1)),
    ] {
      for length in 0...packet.count {
        for link in [0, 1, 101, 113, 276] as [UInt16] {
          let cut = CapturedPacket(stamp: 1, linkType: link, bytes: Bytes(Array(packet.prefix(length))))
          #expect(RoundTrips([cut]).trips.count <= 1)
        }
      }
      for offset in packet.indices {
        for value in [0, 0x60, 0x4F, 0xFF] as [UInt8] {
          var altered = packet
          altered[offset] = value
          #expect(RoundTrips([captured(1, altered)]).trips.count <= 1)
        }
      }
    }
  }

  @Test("when the link has a header, then the packet behind it is found")
  func links() {
    let ethernet = [UInt8](repeating: 2, count: 12) + [0x08, 0x00] + Wire.request(1) + [0, 0, 0]
    let tagged = [UInt8](repeating: 2, count: 12) + [0x81, 0, 0, 5, 0x08, 0x00] + Wire.request(1)
    let cooked = [UInt8](repeating: 0, count: 20) + Wire.request(1)
    for (link, bytes) in [(1, ethernet), (1, tagged), (276, cooked)] as [(UInt16, [UInt8])] {
      #expect(RoundTrips([CapturedPacket(stamp: 1, linkType: link, bytes: Bytes(bytes))]).trips.count == 1)
    }
  }
}

/// Packets whose partner is missing, or whose key repeats much later.
struct RoundTripOrderTests {
  @Test("when a reply has no request in the capture, then it is counted as an orphan, not as a ping")
  func orphans() {
    let result = RoundTrips([captured(1, Wire.reply(1)), captured(2, Wire.request(1)), captured(3, Wire.reply(2))])
    #expect(result.trips.map(\.answeredAt) == [nil])
    #expect(result.orphans == 2)
    #expect(result.foreign == 0)
  }

  @Test("when request and reply have the same stamp, then the reply still belongs to the request")
  func sameStamp() {
    let result = RoundTrips([captured(5, Wire.reply(1)), captured(5, Wire.request(1))])
    #expect(result.trips.map(\.rttNanoseconds) == [0])
    #expect(result.orphans == 0)
  }

  @Test("when the same key comes after ten seconds, then it is another ping, and late replies belong to the newer ping")
  func wrapped() {
    func request(_ seconds: Int64) -> CapturedPacket { captured(seconds * 1_000_000, Wire.request(1)) }
    let same = RoundTrips([request(0), captured(9_999_999, Wire.request(1))])
    #expect(same.trips.map(\.copies) == [1])
    let other = RoundTrips([request(0), request(10), captured(10_500_000, Wire.reply(1))])
    #expect(other.trips.map(\.answeredAt) == [nil, 10_500_000_000])
    #expect(other.trips.map(\.copies) == [0, 0])
  }

  @Test("when stamps are at the ends of 64 bits, then the round-trip time is clamped to the longest one")
  func extremes() {
    let trips = RoundTrips([
      CapturedPacket(stamp: .min, linkType: 101, bytes: Bytes(Wire.request(1))),
      CapturedPacket(stamp: .max, linkType: 101, bytes: Bytes(Wire.reply(1))),
    ]).trips
    #expect(trips.map(\.rttNanoseconds) == [.max])
  }

  @Test("when an error comes before the reply, then both are recorded, and the ping is answered")
  func errorThenReply() {
    let trips = RoundTrips([
      captured(1, Wire.request(1)), captured(2, Wire.error(about: Wire.request(1))), captured(3, Wire.reply(1)),
      captured(4, Wire.error(about: Wire.request(1))),
    ]).trips
    #expect(trips.map(\.failedAt) == [2000])
    #expect(trips.map(\.answeredAt) == [3000])
    #expect(trips.map(\.duplicates) == [0])
  }
}
