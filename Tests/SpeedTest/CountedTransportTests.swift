import Foundation
import Testing

@testable import SpeedTest

/// The bytes that count are those that arrived or left.
@Suite struct CountedTransportTests {
  /// Two ends of a TCP connection, and the counter of the first one.
  private struct Ends {
    let counter = TrafficCounter()
    let counted: CountedTransport
    let peer: PlainSocket
    let waiting: Waiting

    init() throws {
      let clock = TestClock.monotonic { false }
      waiting = Waiting(clock: clock, deadline: clock.now() + 60_000_000_000)
      let place = try #require(try Addresses(host: "127.0.0.1", port: 0, family: nil).list.first)
      let listener = try LineListener(on: place)
      let socket = try Dialer(waiting: waiting).connect(Addresses([place.with(port: listener.port)]))
      counted = CountedTransport(socket, counter)
      peer = try listener.accept(waiting)
    }

    /// Writes until the socket takes no more.
    func fill() throws -> Int64 {
      let chunk = [UInt8](repeating: 7, count: 262_144)
      var written: Int64 = 0
      while true {
        let count = try counted.write(chunk)
        guard count > 0 else { return written }
        written += Int64(count)
      }
    }

    /// The bytes that arrive at the peer until the end of the connection.
    func arrived() throws -> Int64 {
      var bytes: Int64 = 0
      while let count = try next() { bytes += count }
      return bytes
    }

    private func next() throws -> Int64? {
      _ = try waiting.wait(on: peer.descriptor, for: Int16(POLLIN), until: .max)
      do { return Int64(try peer.readSome().count) } catch SpeedTestError.closed { return nil }
    }
  }

  @Test(
    "When a connection closes while its socket holds unsent bytes, then the bytes that left count, and no others leave")
  func unsent() throws {
    let ends = try Ends()
    let written = try ends.fill()
    let running = ends.counter.traffic.sent
    // The peer does not read: its window is full, and the socket holds at least the 128 KiB of TCP_NOTSENT_LOWAT.
    #expect(running > 0 && written - running > 65_536)
    ends.counted.close()
    let (sent, arrived) = (ends.counter.traffic.sent, try ends.arrived())
    #expect(sent >= running, "a data limit is charged with the running sum: it never goes back")
    #expect(abs(arrived - sent) < 65_536, "\(written) bytes were written")
  }

  @Test("When the peer resets the connection, then the bytes that never left do not count")
  func reset() throws {
    let ends = try Ends()
    let written = try ends.fill()
    // It has unread bytes, so that its end is a reset.
    ends.peer.close()
    _ = try ends.waiting.wait(on: ends.counted.descriptor, for: Int16(POLLIN), until: .max)
    #expect(throws: SpeedTestError.closed) { try ends.counted.readSome() }
    ends.counted.close()
    #expect(written - ends.counter.traffic.sent > 65_536)
  }

  @Test("When all bytes have left, then all count, once, however often the connection is closed")
  func sent() throws {
    let ends = try Ends()
    #expect(try ends.counted.write([1, 2, 3]) == 3)
    ends.counted.close()
    ends.counted.close()
    #expect(ends.counter.traffic.sent == 3)
    #expect(try ends.arrived() == 3)
  }
}
