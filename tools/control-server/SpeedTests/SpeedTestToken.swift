import Foundation

/// The token of a speed test, which its measurement server checks: today's servers give both versions as one text.
enum SpeedTestToken {
  /// - Parameter openTestUUID: The test's open UUID without its `O`.
  static func text(secret: String, openTestUUID: String, unixSeconds: Int64, peer: PeerAddress) -> String {
    let second = PingToken.base64(secret: secret, unixSeconds: UInt32(clamping: unixSeconds), peer: peer)
    return version1(secret: secret, openTestUUID: openTestUUID, unixSeconds: unixSeconds) + "_#v2#" + second
  }

  /// `UUID_SECONDS_CODE`.
  static func version1(secret: String, openTestUUID: String, unixSeconds: Int64) -> String {
    let text = "\(openTestUUID)_\(unixSeconds)"
    return text + "_" + Data(AuthenticationCode.sha1(Array(text.utf8), key: secret)).base64EncodedString()
  }

  /// The UUID in a client's token. Like the real server, check nothing else of it.
  static func uuid(in token: String) -> String? {
    let field = token.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)[0]
    return UUID(uuidString: String(field))?.uuidString.lowercased()
  }
}
