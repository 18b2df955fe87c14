import Foundation

/// Lines on a TCP connection of a test: TCP and proxy tests send one and receive one. Middleboxes may send anything: bytes other
/// than UTF-8 are replaced.
struct LineExchange {
  let socket: any Transport
  /// Both functions throw at its deadline.
  let waiting: Waiting

  /// Bytes of a received line; the rest is cut off.
  private static let longest = 4096

  /// - Parameter line: Without its LF.
  func send(_ line: String) throws(SpeedTestError) {
    let bytes = Array((line + "\n").utf8)
    var sent = 0
    while sent < bytes.count {
      sent += try socket.write(bytes, from: sent)
      if sent < bytes.count { _ = try waiting.wait(on: socket.descriptor, for: Int16(POLLOUT), until: .max) }
    }
  }

  /// The first line that arrives, without CR and LF. Bytes before the end of the connection count as one; bytes behind the line
  /// are dropped.
  /// - Throws: ``SpeedTestError/closed`` for an end without a byte.
  func receive() throws(SpeedTestError) -> String {
    var line: [UInt8] = []
    while !line.contains(0x0A), line.count <= Self.longest {
      do throws(SpeedTestError) {
        let bytes = try socket.readSome()
        line += bytes
        if bytes.isEmpty { _ = try waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: .max) }
      } catch .closed where !line.isEmpty {
        break
      }
    }
    let text = line.prefix { $0 != 0x0A }.prefix(Self.longest)
    return String(decoding: text.last == 0x0D ? text.dropLast() : text, as: UTF8.self)
  }
}
