import CPinger
import Dispatch
import Glibc

/// Reports changes of links, addresses and routes, from the kernel's netlink messages.
final class NetworkWatch {
  private let source: any DispatchSourceRead

  /// - Parameter onEvent: Called with `nil` for each change, and with the error when no further change will be reported.
  /// - Throws: ``KernelFailure`` when netlink cannot be opened.
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
