/// The owners of the service names that a connection listens to. Only their signals count.
///
/// The bus writes the sender into each message. A match rule for a service's signals does not keep away a signal that another user of the
/// host sends to this connection alone; such a signal has another sender.
package struct ServiceOwners: Hashable, Sendable {
  /// The bus's own name, which no other connection can have.
  package static let bus = "org.freedesktop.DBus"

  private let services: Set<String>
  private var owners: [String: String] = [:]

  /// - Parameter services: The well-known names of the services.
  package init(_ services: [String]) { self.services = Set(services) }

  /// Records the owner of a name; `nil` or empty: it has no owner.
  package mutating func note(_ name: String, isOwnedBy owner: String?) {
    guard services.contains(name) else { return }
    owners[name] = owner.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Notes a change of an owner.
  /// - Parameter values: Those of the bus's signal `NameOwnerChanged`: the name, its last owner, its new one.
  package mutating func noteChange(_ values: [BusValue]) {
    guard values.count == 3, let name = values[0].text else { return }
    note(name, isOwnedBy: values[2].text)
  }

  /// Whether a signal counts.
  /// - Parameters:
  ///   - sender: The unique name of the connection that sent it, or that of the bus.
  ///   - interface: Of the signal; those of the bus itself count only from it.
  package func accept(from sender: String, interface: String) -> Bool {
    interface == Self.bus ? sender == Self.bus : owners.values.contains(sender)
  }
}
