import Coverage
import Foundation

/// The route that pings take, as the kernel would choose it now. Nothing is sent to find out.
struct Route: Hashable, Sendable {
  let interface: String?
  let destination: String?

  /// An interface that is no Wi-Fi counts as the modem's: modems show up as wwan, as USB Ethernet and behind Ethernet routers,
  /// and nothing in the kernel tells the last two from an office network (`network.source` does).
  var path: Path {
    guard let name = interface.flatMap({ Self.isUp($0) ? $0 : nil }) ?? (interface == nil ? leavingInterface : nil)
    else {
      return .offline
    }
    return Self.isWiFi(name) ? .wifi : .cellular
  }

  private static func isWiFi(_ name: String) -> Bool {
    ["wireless", "phy80211"].contains { FileManager.default.fileExists(atPath: "/sys/class/net/\(name)/\($0)") }
  }

  private static func isUp(_ name: String) -> Bool {
    let state = FileManager.default.contents(atPath: "/sys/class/net/\(name)/operstate")
    return state.map { String(decoding: $0, as: UTF8.self).hasPrefix("down") } == false
  }

  /// The interface whose address the kernel would send from.
  private var leavingInterface: String? {
    // Where the destination is a name, the default route stands for it: these addresses belong to nobody (RFC 5737, 3849).
    let candidates = [destination, "192.0.2.1", "2001:db8::1"].compactMap(\.self)
    return candidates.lazy.compactMap(Self.sourceAddress).first.flatMap(Self.interface)
  }

  private static func sourceAddress(towards host: String) -> String? {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "9", &hints, &list) == 0, let entry = list?.pointee else { return nil }
    defer { freeaddrinfo(list) }
    let descriptor = socket(entry.ai_family, entry.ai_socktype | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout.size(ofValue: address))
    return withUnsafeMutableBytes(of: &address) { bytes -> String? in
      guard let local = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, getsockname(descriptor, local, &length) == 0
      else { return nil }
      return numericHost(local, length)
    }
  }

  private static func interface(withAddress wanted: String) -> String? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var next = list
    while let entry = next?.pointee {
      if let address = entry.ifa_addr, let length = length(of: address), numericHost(address, length) == wanted {
        return String(cString: entry.ifa_name)
      }
      next = entry.ifa_next
    }
    return nil
  }

  private static func length(of address: UnsafePointer<sockaddr>) -> socklen_t? {
    switch CInt(address.pointee.sa_family) {
    case AF_INET: socklen_t(MemoryLayout<sockaddr_in>.size)
    case AF_INET6: socklen_t(MemoryLayout<sockaddr_in6>.size)
    default: nil
    }
  }

  private static func numericHost(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
    return text.withUnsafeBufferPointer { $0.baseAddress.map(String.init(cString:)) }
  }
}
