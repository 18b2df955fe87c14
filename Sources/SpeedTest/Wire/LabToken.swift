import CLibssl
import Foundation

/// Makes tokens for a measurement server whose secret is known, as a control server does (docs/protocol.md, 7.4).
public enum LabToken {
  /// Version 1: `uuid_seconds_base64(HMAC-SHA1)`.
  /// - Parameters:
  ///   - secret: The key that the measurement server has; its bytes in UTF-8.
  ///   - uuid: The open test's, in lower case and without its `O`.
  ///   - unixSeconds: The start time. Servers accept the token until 90 s after it, and wait up to 20 s for it.
  public static func version1(secret: String, uuid: String, unixSeconds: Int64) -> String {
    let text = "\(uuid)_\(unixSeconds)"
    return text + "_" + Data(code(EVP_sha1(), secret, Array(text.utf8))).base64EncodedString()
  }

  /// Version 2: base64 of the 16 bytes that bind a token to a time and a source address. UDP pings use the same bytes.
  /// - Parameter address: The client address in 16 bytes, IPv4 as `::ffff:a.b.c.d`.
  public static func version2(secret: String, unixSeconds: UInt32, address: [UInt8]) -> String {
    let time = withUnsafeBytes(of: unixSeconds.bigEndian) { Array($0) }
    let bytes =
      time + code(EVP_sha256(), secret, time).prefix(8) + code(EVP_sha256(), secret, time + address).prefix(4)
    return Data(bytes).base64EncodedString()
  }

  /// The HMAC of `message`.
  private static func code(_ digest: OpaquePointer?, _ secret: String, _ message: [UInt8]) -> [UInt8] {
    let key = Array(secret.utf8)
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = HMAC(digest, key, Int32(clamping: key.count), message, message.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }
}
