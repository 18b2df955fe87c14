/// A message from D-Bus.
enum BusMessage: Hashable, Sendable {
  /// The answer to a call.
  case answer(BusCall.Purpose, [BusValue])
  /// The error that answers a call: its name and text.
  case failure(BusCall.Purpose, name: String, text: String)
  case signal(path: String, interface: String, member: String, [BusValue])
}
