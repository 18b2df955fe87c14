/// A call of a method over D-Bus, and the purpose of its answer.
package struct BusCall<Use: Hashable & Sendable>: Hashable, Sendable {
  /// The purposes of a conversation's calls.
  package typealias Purpose = Use

  package enum Argument: Hashable, Sendable {
    case bool(Bool)
    case unsigned(UInt32)
    case string(String)
  }

  package let purpose: Purpose
  package let destination: String
  package let path: String
  package let interface: String
  package let member: String
  package var arguments: [Argument]

  package init(
    purpose: Purpose, destination: String, path: String, interface: String, member: String, arguments: [Argument] = []
  ) {
    (self.purpose, self.destination, self.path) = (purpose, destination, path)
    (self.interface, self.member, self.arguments) = (interface, member, arguments)
  }
}
