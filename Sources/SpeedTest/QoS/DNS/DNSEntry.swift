/// A record of an answer, as the result shows it.
struct DNSEntry: Hashable, Sendable {
  /// An address, a name or a text, as the type has it.
  let value: String
  /// Seconds.
  let timeToLive: UInt32
  /// The preference of a mail exchange; `nil` for other types.
  var priority: UInt16?
}
