import Foundation

/// The 16 bytes that let a client use the UDP ping server from one address for four hours.
///
///     0–3    Unix seconds, big endian
///     4–11   HMAC-SHA256(secret, bytes 0–3), first 8 bytes
///     12–15  HMAC-SHA256(secret, bytes 0–3 ‖ 16 bytes of the address), first 4 bytes
enum PingToken {
  static func bytes(secret: String, unixSeconds: UInt32, peer: PeerAddress) -> [UInt8] {
    let time = withUnsafeBytes(of: unixSeconds.bigEndian) { Array($0) }
    let timeCode = AuthenticationCode.sha256(time, key: secret)
    let addressCode = AuthenticationCode.sha256(time + peer.bytes, key: secret)
    return time + timeCode.prefix(8) + addressCode.prefix(4)
  }

  /// The token as it goes into a response.
  static func base64(secret: String, unixSeconds: UInt32, peer: PeerAddress) -> String {
    Data(bytes(secret: secret, unixSeconds: unixSeconds, peer: peer)).base64EncodedString()
  }
}
