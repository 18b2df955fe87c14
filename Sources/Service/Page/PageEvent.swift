/// An event of the stream that the live page follows, as server-sent events have it (HTML, 9.2).
struct PageEvent: Hashable, Sendable {
  enum Kind: String, Hashable, Sendable {
    /// Fences, as columns.
    case fences
    /// Speed tests, each as an object. The page replaces a test that has the same id.
    case tests
    /// The service's state.
    case status
    /// The store was replaced: the page drops its fences and starts again.
    case reset
  }

  var kind: Kind
  /// Without line ends.
  var data: [UInt8]
  /// The `Last-Event-ID` that the browser sends when it reconnects.
  var id: Int64?

  /// The bytes on the wire.
  var bytes: [UInt8] {
    var bytes = Array("event: \(kind.rawValue)\n".utf8)
    if let id { bytes += Array("id: \(id)\n".utf8) }
    return bytes + Array("data: ".utf8) + data.filter { $0 != 0x0A && $0 != 0x0D } + Array("\n\n".utf8)
  }

  /// How long a browser waits before it connects again.
  static let retry = Array("retry: 2000\n\n".utf8)
}
