import Foundation

/// The lines of a control connection. Commands may come several in one read, and replies from several threads.
final class QoSLines: @unchecked Sendable {
  private let stream: PeerStream
  private let lock = NSLock()
  private var buffer: [UInt8] = []

  init(_ stream: PeerStream) { self.stream = stream }

  var descriptor: Int32 { stream.descriptor }

  func write(_ line: String) throws { try lock.withLock { try stream.write(line + "\n") } }

  /// The next line without LF.
  /// - Parameter idle: ms until the read fails.
  func next(idle: Int) throws -> String {
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        defer { buffer.removeFirst(end + 1) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      guard buffer.count <= 1023 else { throw ServerError.refused("a line of more than 1023 bytes") }
      var entry = pollfd(fd: stream.descriptor, events: Int16(POLLIN), revents: 0)
      let isBuffered = lock.withLock { stream.hasBuffered }
      if !isBuffered, poll(&entry, 1, Int32(clamping: idle)) == 0 { throw ServerError.refused("idle for \(idle) ms") }
      // TLS serves one thread at a time.
      try lock.withLock {
        var some = [UInt8](repeating: 0, count: 1024)
        let count = try some.withUnsafeMutableBytes { try stream.read(into: $0) }
        buffer += some[..<count]
      }
    }
  }
}
