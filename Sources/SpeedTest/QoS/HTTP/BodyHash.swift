import CLibssl

/// MD5 of a body while it comes in. The control server compares it; no security depends on it.
final class BodyHash {
  private let context: OpaquePointer?
  /// Bytes so far.
  private(set) var length: Int64 = 0

  init() {
    context = EVP_MD_CTX_new()
    if let context { EVP_DigestInit_ex(context, EVP_md5(), nil) }
  }

  func add(_ bytes: UnsafeRawBufferPointer) {
    length += Int64(bytes.count)
    if let context { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }
  }

  /// The hash of all bytes in hexadecimal digits; call it once. Empty when OpenSSL does not offer MD5.
  func digits() -> String {
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard let context, EVP_DigestFinal_ex(context, &code, &count) == 1 else { return "" }
    return code.prefix(Int(count)).map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
  }

  deinit { EVP_MD_CTX_free(context) }
}
