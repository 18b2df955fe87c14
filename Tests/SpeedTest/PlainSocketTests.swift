import Foundation
import Testing

@testable import SpeedTest

@Suite struct PlainSocketTests {
  private func read(_ socket: PlainSocket) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = try buffer.withUnsafeMutableBytes { try socket.read(into: $0) }
    return Array(buffer.prefix(count))
  }

  /// A socket that owns its descriptor, and the pair that it was made from.
  private func socket() throws -> (PlainSocket, SocketPair) {
    let pair = try SocketPair()
    return (PlainSocket(descriptor: dup(pair.ours)), pair)
  }

  @Test("When no bytes have come, then a read has none, without an error; later it has those that came")
  func nothingYet() throws {
    let (socket, pair) = try socket()
    #expect(try read(socket) == [])
    pair.send([1, 2, 3])
    #expect(try read(socket) == [1, 2, 3])
  }

  @Test(
    "When the peer has ended, then reads and writes report a closed connection, and no signal kills the process")
  func closed() throws {
    let (socket, pair) = try socket()
    pair.end()
    #expect(throws: SpeedTestError.closed) { try read(socket) }
    #expect(throws: SpeedTestError.closed) {
      try [UInt8]([1]).withUnsafeBytes { try socket.write($0) }
    }
  }

  @Test("When the socket's buffer is full, then a write accepts no bytes, without an error")
  func full() throws {
    let (socket, pair) = try socket()
    let bytes = [UInt8](repeating: 7, count: 100_000)
    var counts: [Int] = []
    while counts.last != 0, counts.count < 1000 {
      counts.append(try bytes.withUnsafeBytes { try socket.write($0) })
    }
    #expect(counts.last == 0 && counts.contains { $0 > 0 })
    withExtendedLifetime(pair) {}
  }

  @Test("When the descriptor is not a socket, then the error is the system's")
  func noSocket() {
    let socket = PlainSocket(descriptor: open("/dev/null", O_RDWR))
    #expect(throws: SpeedTestError.unreachable("Socket operation on non-socket")) { try read(socket) }
  }

  @Test("When a socket is closed twice, then a new descriptor with its number stays open")
  func closedTwice() throws {
    let pair = try SocketPair()
    // Far above the numbers that other tests get.
    let number = fcntl(pair.ours, F_DUPFD, 700)
    let socket = PlainSocket(descriptor: number)
    socket.close()
    #expect(fcntl(number, F_GETFD) == -1)
    let other = fcntl(pair.ours, F_DUPFD, number)
    #expect(other == number)
    socket.close()
    #expect(fcntl(other, F_GETFD) != -1)
    close(other)
  }

  @Test("When a socket is released, then its descriptor is closed")
  func released() throws {
    let pair = try SocketPair()
    let number = fcntl(pair.ours, F_DUPFD, 800)
    _ = PlainSocket(descriptor: number)
    #expect(fcntl(number, F_GETFD) == -1)
  }

  @Test("When TCP is plain, then no decrypted bytes are buffered, and no encryption is named")
  func plain() throws {
    let (socket, _) = try socket()
    #expect(!socket.hasBuffered)
    #expect(socket.encryption == nil)
  }
}
