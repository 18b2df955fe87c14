import Foundation

/// A TCP server on 127.0.0.1 whose connections run a script, each on a thread.
public final class ScriptedServer: Sendable {
  /// A client's connection; it closes with the last reference to it.
  public final class Client: @unchecked Sendable {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) {
      self.descriptor = descriptor
      var limit = timeval(tv_sec: 20, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    public func send(_ text: String) { send(Array(text.utf8)) }

    /// - Returns: Whether the kernel took all bytes: the client still reads.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
      Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Some bytes as they come; empty at the end of the connection, or after 20 s of silence.
    public func bytes() -> [UInt8] {
      var some = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &some, some.count, 0)
      return Array(some.prefix(max(0, count)))
    }

    /// The text up to `mark`, without it; empty at the end of the connection, or after 20 s of silence.
    public func text(to mark: String = "\n") -> String {
      let mark = Array(mark.utf8)
      while true {
        if let end = buffer.indices.first(where: { buffer[$0...].starts(with: mark) }) {
          defer { buffer.removeFirst(end + mark.count) }
          return String(decoding: buffer[..<end], as: UTF8.self)
        }
        let more = bytes()
        guard !more.isEmpty else { return "" }
        buffer += more
      }
    }

    /// Ends this side and reads what the peer still sends: closing before would reset the connection, and the peer would lose what it
    /// has not read.
    public func finish() {
      shutdown(descriptor, Int32(SHUT_WR))
      while !bytes().isEmpty {}
    }
  }

  public let port: UInt16
  private let descriptor: Int32

  public init(_ script: @escaping @Sendable (Client) -> Void) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        bind(descriptor, $0.baseAddress, size) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, $0.baseAddress, &size) == 0
      }
    }
    guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL) }
    (self.descriptor, port) = (descriptor, UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread {
      while true {
        let peer = accept(descriptor, nil, nil)
        guard peer >= 0 else { return }
        Thread.detachNewThread { script(Client(descriptor: peer)) }
      }
    }
  }

  deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
