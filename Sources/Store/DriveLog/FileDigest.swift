import CLibssl
import Coverage
import Foundation

/// The digest of bytes that come in pieces.
public final class StreamedDigest {
  private let context = EVP_MD_CTX_new()
  /// The number of bytes so far.
  public private(set) var bytes: Int64 = 0

  /// Of no bytes.
  /// - Parameter isMD5: For control servers, which compare it; no security depends on it. `false`: SHA-256 (FIPS 180-4).
  public init(isMD5: Bool = false) { EVP_DigestInit_ex(context, isMD5 ? EVP_md5() : EVP_sha256(), nil) }

  deinit { EVP_MD_CTX_free(context) }

  public func add(_ piece: some ContiguousBytes) {
    piece.withUnsafeBytes { piece in
      EVP_DigestUpdate(context, piece.baseAddress, piece.count)
      bytes = bytes.saturatingAdding(Int64(piece.count))
    }
  }

  /// The digest of all bytes so far in hexadecimal digits; empty when OpenSSL refuses, as without memory or MD5. Call it once, at the end.
  public func hexadecimal() -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard EVP_DigestFinal_ex(context, &digest, &count) == 1 else { return "" }
    return digest.prefix(Int(count)).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}

/// The length and the SHA-256 of a file at one moment. A drive log grows while its drive goes on, and by notes after it: `head -c BYTES FILE |
/// sha256sum` gives the same digest later.
public struct FileDigest: Hashable, Sendable {
  /// The number of bytes that were read.
  public let bytes: Int64
  /// Of these bytes, as 64 hexadecimal digits.
  public let sha256: String

  public init(bytes: Int64, sha256: String) { (self.bytes, self.sha256) = (bytes, sha256) }

  /// Reads the file at `path` in pieces, up to its present end.
  /// - Throws: ``DriveLogError/unreadable(path:reason:)``
  public init(path: String) throws(DriveLogError) {
    let (descriptor, size) = try RecordedDrive.open(path)
    defer { close(descriptor) }
    let (digest, end) = (StreamedDigest(), size)
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    while digest.bytes < end {
      let wanted = Int(min(Int64(piece.count), end - digest.bytes))
      let count = read(descriptor, &piece, wanted)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
      if count == 0 { break }
      digest.add(piece[..<count])
    }
    self.init(bytes: digest.bytes, sha256: digest.hexadecimal())
  }
}
