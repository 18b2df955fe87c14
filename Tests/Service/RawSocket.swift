import Foundation

/// Unix sockets without an HTTP library, for bytes that such a library does not send.
enum RawSocket {
  private static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
    return address
  }

  private static func open() -> CInt { socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }

  private static func with(
    _ path: String, _ call: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ descriptor: CInt
  ) -> Bool {
    withUnsafePointer(to: address(path)) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  /// Leaves a socket at `path` that belongs to no process, as a killed process does.
  static func leave(at path: String) throws {
    let descriptor = open()
    defer { close(descriptor) }
    guard with(path, bind, descriptor) else { throw POSIXError(.EADDRINUSE) }
  }

  /// Sends `bytes`, then reads until the other side closes the connection.
  /// - Parameter closesFirst: Shuts this side down after the last byte.
  static func ask(_ path: String, _ bytes: [UInt8], closesFirst: Bool = false) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      // Use a new thread: blocked threads of Dispatch delay tasks.
      Thread.detachNewThread { continuation.resume(with: Result { try askNow(path, bytes, closesFirst) }) }
    }
  }

  static func ask(_ path: String, _ head: String) async throws -> String {
    try await ask(path, Array((head + "\r\nHost: localhost\r\nConnection: close\r\n\r\n").utf8))
  }

  private static func askNow(_ path: String, _ bytes: [UInt8], _ closesFirst: Bool) throws -> String {
    let descriptor = open()
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard with(path, connect, descriptor) else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    guard send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
      throw POSIXError(.EPIPE)
    }
    if closesFirst { shutdown(descriptor, CInt(SHUT_WR)) }
    var answer: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &piece, piece.count, 0)
      guard count > 0 else { break }
      answer += piece.prefix(count)
    }
    return String(decoding: answer, as: UTF8.self)
  }

  /// Listens at `path` and sends `answer` to the first request.
  static func answerOnce(at path: String, with answer: String) throws {
    let descriptor = open()
    guard with(path, bind, descriptor), listen(descriptor, 8) == 0 else {
      close(descriptor)
      throw POSIXError(.EADDRINUSE)
    }
    Thread.detachNewThread {
      defer { close(descriptor) }
      // The first connection only checks that there is a listener.
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        var piece = [UInt8](repeating: 0, count: 4096)
        guard recv(connection, &piece, piece.count, 0) > 0 else { continue }
        let bytes = Array(answer.utf8)
        _ = send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        return
      }
    }
  }
}
