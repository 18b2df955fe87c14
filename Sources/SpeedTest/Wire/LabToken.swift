import CLibssl
import Foundation

/// Makes tokens for a measurement server whose secret is known, as a control server does (speed test spec, section 4).
public enum LabToken {
  /// `uuid_seconds_base64(HMAC-SHA1)`.
  public static func version1(secret: String, uuid: String, unixSeconds: Int64) -> String {
    let text = "\(uuid)_\(unixSeconds)"
    return text + "_" + Data(code(EVP_sha1(), secret, Array(text.utf8))).base64EncodedString()
  }

  /// Base64 of the 16 bytes that bind a token to a source address.
  /// - Parameter address: 16 bytes; IPv4 is mapped.
  public static func version2(secret: String, unixSeconds: UInt32, address: [UInt8]) -> String {
    let time = withUnsafeBytes(of: unixSeconds.bigEndian) { Array($0) }
    let bytes =
      time + code(EVP_sha256(), secret, time).prefix(8) + code(EVP_sha256(), secret, time + address).prefix(4)
    return Data(bytes).base64EncodedString()
  }

  private static func code(_ digest: OpaquePointer?, _ secret: String, _ message: [UInt8]) -> [UInt8] {
    let key = Array(secret.utf8)
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = HMAC(digest, key, Int32(clamping: key.count), message, message.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }
}
