import Foundation

/// IPv4 addresses of sockets.
enum SocketAddress {
  /// Binds, and returns the port.
  static func bind(_ descriptor: Int32, to text: String, port: UInt16) throws -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard descriptor >= 0, inet_pton(AF_INET, text, &address.sin_addr) == 1 else {
      throw ServerError.system("\(text) is no IPv4 address")
    }
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        let code = Glibc.bind(descriptor, pointer, size)
        return code == 0 ? getsockname(descriptor, pointer, &size) : code
      }
    }
    guard code == 0 else { throw ServerError.system("\(text):\(port): \(String(cString: strerror(errno)))") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// The 16 bytes of an IPv4 address, mapped to IPv6.
  static func mapped(_ address: sockaddr_in) -> [UInt8] {
    [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + withUnsafeBytes(of: address.sin_addr.s_addr) { Array($0) }
  }

  /// The peer's address of a connected socket in 16 bytes.
  static func peer(of descriptor: Int32) -> [UInt8] { mapped(peerAddress(of: descriptor)) }

  /// The peer's address of a connected socket.
  static func peerAddress(of descriptor: Int32) -> sockaddr_in {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
    }
    return address
  }

  /// Calls a socket function with an address.
  static func call(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int) -> Int {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
