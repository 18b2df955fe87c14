import CLibssl
import Foundation

/// Checks tokens like today's servers: with the mark of version 2, only that part; otherwise version 1 (docs/protocol.md, 7.4).
enum TokenCheck {
  static func isGood(_ token: String, secret: String, peer: [UInt8], now: Int64) -> Bool {
    if let mark = token.range(of: "_#v2#") {
      return version2(Data(base64Encoded: String(token[mark.upperBound...])) ?? Data(), secret, peer, now)
    }
    let parts = token.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, parts[0].count <= 36, parts[0].allSatisfy({ "0123456789abcdef-".contains($0) }),
      let time = Int64(parts[1]), isInWindow(time, now)
    else { return false }
    return Data(hmac(EVP_sha1(), secret, Array("\(parts[0])_\(parts[1])".utf8))).base64EncodedString() == parts[2]
  }

  /// Like QoS servers that check tokens: version 1 only, with the time in ms (docs/protocol.md, 8).
  static func isGoodForQoS(_ token: String, secret: String, now: Int64) -> Bool {
    let parts = token.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let time = Int64(parts[1]), time >= 1 << 40, isInWindow(time / 1000, now) else {
      return false
    }
    return Data(hmac(EVP_sha1(), secret, Array("\(parts[0])_\(parts[1])".utf8))).base64EncodedString() == parts[2]
  }

  /// The verdict on a 16-byte token.
  enum Verdict: Hashable {
    case good, otherAddress, bad
  }

  private static func version2(_ token: Data, _ secret: String, _ peer: [UInt8], _ now: Int64) -> Bool {
    verdict(token, secret, peer, now, early: 20, late: 90) == .good
  }

  /// For UDP pings: 30 s early to 4 h late.
  static func ping(_ token: Data, secret: String, peer: [UInt8], now: Int64) -> Verdict {
    verdict(token, secret, peer, now, early: 30, late: 14_400)
  }

  private static func verdict(
    _ token: Data, _ secret: String, _ peer: [UInt8], _ now: Int64, early: Int64, late: Int64
  ) -> Verdict {
    let bytes = Array(token)
    guard bytes.count == 16 else { return .bad }
    let time = bytes.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard (-early...late).contains(now - time),
      hmac(EVP_sha256(), secret, Array(bytes[..<4])).prefix(8) == bytes[4..<12]
    else { return .bad }
    return hmac(EVP_sha256(), secret, bytes[..<4] + peer).prefix(4) == bytes[12...] ? .good : .otherAddress
  }

  private static func isInWindow(_ time: Int64, _ now: Int64) -> Bool {
    time >= 0 && time < 1 << 40 && (-20...90).contains(now - time)
  }

  private static func hmac(_ digest: OpaquePointer?, _ secret: String, _ message: [UInt8]) -> [UInt8] {
    let key = Array(secret.utf8)
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = HMAC(digest, key, Int32(clamping: key.count), message, message.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }
}
