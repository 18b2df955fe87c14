import CPinger
import Dispatch
import Glibc

/// The kernel's word that a link, an address or a route has changed.
final class NetworkWatch {
  private let source: any DispatchSourceRead

  /// - Parameter onEvent: Called with `nil` for each change, and with the reason when nothing more will be told.
  /// - Throws: ``KernelFailure``, when the kernel tells nothing.
  init(_ onEvent: @escaping @Sendable (KernelFailure?) -> Void) throws(KernelFailure) {
    let changes = cpnetwork_open()
    guard changes >= 0 else { throw KernelFailure(code: changes) }
    source = DispatchSource.makeReadSource(fileDescriptor: changes)
    source.setEventHandler { [weak self] in
      let status = cpnetwork_drain(changes)
      if status != 0 { onEvent(status < 0 ? KernelFailure(code: status) : nil) }
      if status < 0 { self?.cancel() }
    }
    source.setCancelHandler { close(changes) }
    source.activate()
  }

  func cancel() { source.cancel() }

  deinit { source.cancel() }
}

/// What the kernel says instead of an answer.
struct KernelFailure: Error, Hashable, CustomStringConvertible {
  /// A negative errno.
  let code: CInt

  var description: String { String(cString: strerror(-code)) }
}
