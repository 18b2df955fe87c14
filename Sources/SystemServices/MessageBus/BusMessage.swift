/// A message from D-Bus.
package enum BusMessage<Use: Hashable & Sendable>: Hashable, Sendable {
  /// The answer to a call.
  case answer(Use, [BusValue])
  /// The error that answers a call: its name and text.
  case failure(Use, name: String, text: String)
  case signal(path: String, interface: String, member: String, [BusValue])
}
