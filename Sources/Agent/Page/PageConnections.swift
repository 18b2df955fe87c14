import HummingbirdCore
import Synchronization

/// Limits the connections to the live page, and accepts none once the service ends. The HTTP server asks it on its own threads.
final class PageConnections: AvailableConnectionsDelegate {
  /// Enough for some browsers, which open up to six each.
  static let most = 32

  private struct State {
    var open = 0
    var isClosing = false
  }

  private let state = Mutex(State())

  func connectionOpened() { state.withLock { $0.open += 1 } }

  func connectionClosed() { state.withLock { $0.open -= 1 } }

  func isAcceptingNewConnections() -> Bool { state.withLock { !$0.isClosing && $0.open < Self.most } }

  /// Accepts no further connection.
  func close() { state.withLock { $0.isClosing = true } }
}
