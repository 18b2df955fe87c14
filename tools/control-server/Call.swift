/// A request with its body.
struct Call: Sendable {
  let peer: PeerAddress
  let body: [UInt8]
  /// `http://host:port` as the client sent it.
  let base: String

  var text: String { String(decoding: body, as: UTF8.self) }
}
