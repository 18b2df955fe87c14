import CLibcrypto
import Foundation

/// The 16 bytes that let a client use the UDP ping server from one address for four hours.
///
///     0–3    Unix seconds, big endian
///     4–11   HMAC-SHA256(secret, bytes 0–3), first 8 bytes
///     12–15  HMAC-SHA256(secret, bytes 0–3 ‖ 16 bytes of the address), first 4 bytes
enum PingToken {
  static func bytes(secret: String, unixSeconds: UInt32, peer: PeerAddress) -> [UInt8] {
    let key = Array(secret.utf8)
    let time = withUnsafeBytes(of: unixSeconds.bigEndian) { Array($0) }
    let timeCode = authenticationCode(for: time, key: key)
    let addressCode = authenticationCode(for: time + peer.bytes, key: key)
    return time + timeCode.prefix(8) + addressCode.prefix(4)
  }

  /// The token as it goes into a response.
  static func base64(secret: String, unixSeconds: UInt32, peer: PeerAddress) -> String {
    Data(bytes(secret: secret, unixSeconds: unixSeconds, peer: peer)).base64EncodedString()
  }

  /// HMAC-SHA256 (RFC 2104).
  private static func authenticationCode(for message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }
}
