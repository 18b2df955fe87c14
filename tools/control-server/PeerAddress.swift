import Foundation

/// The IP address that a request came from, as 16 bytes: IPv4 is mapped to `::ffff:a.b.c.d`.
struct PeerAddress: Hashable, Sendable {
  let bytes: [UInt8]

  /// `nil` when `text` is not an IP address.
  init?(_ text: String) {
    // A link-local peer has a scope, which is not part of the address.
    let address = String(text.prefix { $0 != "%" })
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, address, &four) == 1 {
      bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + withUnsafeBytes(of: &four) { Array($0) }
    } else if inet_pton(AF_INET6, address, &six) == 1 {
      bytes = withUnsafeBytes(of: &six) { Array($0) }
    } else {
      return nil
    }
  }

  private var isMappedIPv4: Bool {
    bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
  }

  /// 4 or 6. A mapped address, which a dual-stack listener reports, is IPv4.
  var version: Int { isMappedIPv4 ? 4 : 6 }

  /// The address in its usual notation.
  var text: String {
    if isMappedIPv4 { return bytes.suffix(4).map(String.init).joined(separator: ".") }
    var address = in6_addr()
    withUnsafeMutableBytes(of: &address) { $0.copyBytes(from: bytes) }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return "::" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
