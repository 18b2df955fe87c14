/// A record of an answer.
struct DNSEntry: Hashable, Sendable {
  /// An address, a name or a text, as the type has it.
  let value: String
  /// Seconds.
  let timeToLive: UInt32
  /// Of a mail exchange.
  var priority: UInt16?
}
