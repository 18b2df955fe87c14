import Testing

@testable import SystemServices

/// The connections whose signals are accepted.
struct ServiceOwnersTests {
  private let things = "org.example.Things"

  private func owners(_ change: (inout ServiceOwners) -> Void = { _ in }) -> ServiceOwners {
    var owners = ServiceOwners(["org.example.A", "org.example.B"])
    change(&owners)
    return owners
  }

  @Test("when the services have no owner, then only the bus's own signals are accepted, and only from the bus")
  func noOwner() {
    #expect(!owners().accept(from: ":1.5", interface: things))
    #expect(!owners().accept(from: "", interface: things))
    #expect(owners().accept(from: ServiceOwners.bus, interface: ServiceOwners.bus))
    #expect(!owners().accept(from: ":1.5", interface: ServiceOwners.bus))
    #expect(!owners().accept(from: ServiceOwners.bus, interface: things), "the bus has no such interface")
  }

  @Test(
    "when a service has an owner, then only its signals are accepted, and after a change only those of the successor")
  func successor() {
    var owners = owners { $0.note("org.example.A", isOwnedBy: ":1.5") }
    #expect(owners.accept(from: ":1.5", interface: things) && !owners.accept(from: ":1.6", interface: things))
    owners.noteChange([.string("org.example.A"), .string(":1.5"), .string(":1.6")])
    #expect(!owners.accept(from: ":1.5", interface: things) && owners.accept(from: ":1.6", interface: things))
    #expect(!owners.accept(from: ":1.6", interface: ServiceOwners.bus), "a service is not the bus")
    owners.noteChange([.string("org.example.A"), .string(":1.6"), .string("")])
    #expect(!owners.accept(from: ":1.6", interface: things) && !owners.accept(from: "", interface: things))
  }

  @Test("when there are two services, then each has its own owner")
  func two() {
    let owners = owners {
      $0.note("org.example.A", isOwnedBy: ":1.5")
      $0.note("org.example.B", isOwnedBy: ":1.6")
      $0.note("org.example.A", isOwnedBy: nil)
    }
    #expect(!owners.accept(from: ":1.5", interface: things) && owners.accept(from: ":1.6", interface: things))
  }

  @Test(
    "when a change is for another name, or is malformed, then it changes nothing",
    arguments: [
      [.string("org.example.C"), .string(""), .string(":1.7")], [.string("org.example.A")], [],
      [.integer(1), .string(""), .string(":1.7")],
      [.string("org.example.A"), .string(""), .string(":1.7"), .string("more")],
    ] as [[BusValue]])
  func others(values: [BusValue]) {
    let changed = owners { $0.noteChange(values) }
    #expect(!changed.accept(from: ":1.7", interface: things))
    #expect(changed == owners())
  }
}
