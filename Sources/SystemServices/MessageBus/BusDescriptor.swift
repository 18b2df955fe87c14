import Glibc

/// A file descriptor that came over D-Bus, closed with its last owner.
package final class BusDescriptor: Hashable, Sendable {
  private let descriptor: CInt

  /// Duplicates a descriptor that belongs to a message.
  /// - Returns: `nil` when the process may open no more descriptors.
  package init?(duplicating original: CInt) {
    descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
    if descriptor < 0 { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  package static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
