import CLibssl

/// HMAC (RFC 2104) with the digests that tokens use.
enum AuthenticationCode {
  static func sha1(_ message: [UInt8], key: String) -> [UInt8] { code(EVP_sha1(), message, key: Array(key.utf8)) }

  static func sha256(_ message: [UInt8], key: String) -> [UInt8] { code(EVP_sha256(), message, key: Array(key.utf8)) }

  private static func code(_ digest: OpaquePointer?, _ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = HMAC(digest, key, Int32(clamping: key.count), message, message.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }
}
