import Foundation

/// A UDP socket on loopback that receives pings and answers none.
public final class DatagramReceiver: Sendable {
  /// One datagram with the fields of its IP header that a target can set.
  public struct Datagram: Hashable, Sendable {
    public var bytes = 0
    public var from: UInt32 = 0
    public var hopLimit: Int32?
    public var trafficClass: UInt8?

    public init(bytes: Int = 0, from: UInt32 = 0, hopLimit: Int32? = nil, trafficClass: UInt8? = nil) {
      (self.bytes, self.from, self.hopLimit, self.trafficClass) = (bytes, from, hopLimit, trafficClass)
    }
  }

  public let port: UInt16
  private let descriptor: CInt

  public init() throws {
    descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    guard status == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    var yes: CInt = 1
    for option in [IP_RECVTTL, IP_RECVTOS] {
      setsockopt(descriptor, CInt(IPPROTO_IP), option, &yes, socklen_t(MemoryLayout<CInt>.size))
    }
    // Ends a test whose ping does not arrive.
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// The next datagram.
  public func next() throws -> Datagram {
    var from = sockaddr_in()
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var control = [UInt8](repeating: 0, count: 256)
    var found = Datagram()
    let filled = withUnsafeMutablePointer(to: &from) { from in
      bytes.withUnsafeMutableBytes { bytes in
        control.withUnsafeMutableBytes { control in
          var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
          return withUnsafeMutablePointer(to: &vector) { vector -> Int in
            var message = msghdr()
            (message.msg_name, message.msg_namelen) = (
              UnsafeMutableRawPointer(from), socklen_t(MemoryLayout<sockaddr_in>.size)
            )
            (message.msg_iov, message.msg_iovlen) = (vector, 1)
            (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
            found.bytes = recvmsg(descriptor, &message, 0)
            return Int(message.msg_controllen)
          }
        }
      }
    }
    guard found.bytes >= 0 else { throw POSIXError(.ETIMEDOUT) }
    found.from = UInt32(bigEndian: from.sin_addr.s_addr)
    control.withUnsafeBytes { control in
      var offset = 0
      let header = MemoryLayout<cmsghdr>.size
      while offset + header < filled {
        let message = control.loadUnaligned(fromByteOffset: offset, as: cmsghdr.self)
        guard message.cmsg_len > header else { return }
        if message.cmsg_type == IP_TTL {
          found.hopLimit = control.loadUnaligned(fromByteOffset: offset + header, as: Int32.self)
        }
        if message.cmsg_type == IP_TOS { found.trafficClass = control[offset + header] }
        offset += (Int(message.cmsg_len) + 7) / 8 * 8
      }
    }
    return found
  }
}
