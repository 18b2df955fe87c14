import CLibssl
import Foundation

/// A port of 127.0.0.1 that is taken and does not listen: connecting to it is refused for as long as this object lives.
final class BoundPort {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        bind(descriptor, $0.baseAddress, size) == 0 && getsockname(descriptor, $0.baseAddress, &size) == 0
      }
    }
    guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL) }
    (self.descriptor, port) = (descriptor, UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }
}
