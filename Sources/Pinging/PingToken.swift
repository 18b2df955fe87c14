import CLibssl
import CPinger

/// The token of an RTR ping (docs/protocol.md, 1.2), for a server whose secret is known.
public enum PingToken {
  /// Makes a token.
  /// - Parameters:
  ///   - unixSeconds: The present time; a token is accepted for 4 h from then on.
  ///   - address: The address from which the pings arrive, in 16 bytes, IPv4 as `::ffff:a.b.c.d`.
  /// - Returns: 16 bytes.
  public static func bytes(secret: [UInt8], unixSeconds: UInt32, address: [UInt8]) -> [UInt8] {
    let time = withUnsafeBytes(of: unixSeconds.bigEndian) { Array($0) }
    return time + code(secret, time).prefix(8) + code(secret, time + address).prefix(4)
  }

  /// HMAC-SHA256.
  private static func code(_ secret: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = HMAC(EVP_sha256(), secret, Int32(clamping: secret.count), message, message.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }
}

extension PingAddress {
  /// The address in 16 bytes, IPv4 as `::ffff:a.b.c.d`.
  public var mapped: [UInt8] {
    let bytes = withUnsafeBytes(of: raw.bytes) { Array($0) }
    guard family == .ipv4 else { return bytes }
    return [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes.prefix(4)
  }
}
