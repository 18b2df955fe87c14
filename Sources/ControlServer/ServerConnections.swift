import AsyncHTTPClient
import Synchronization

/// The HTTP clients behind all copies of a ``ControlServerClient``.
final class ServerConnections: Sendable {
  /// Keeps its connections for later requests.
  let pooled: HTTPClient
  /// Opens a connection for each request and closes it afterwards.
  let fresh: HTTPClient
  private let isShutDown = Atomic(false)

  init(_ configuration: HTTPClient.Configuration) {
    pooled = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    fresh = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// A client that was not shut down, as after an error that its owner throws, traps in debug builds and leaks in others.
  deinit {
    guard !isShutDown.load(ordering: .relaxed) else { return }
    // It fails only for a client that is shut down already.
    Task { [pooled, fresh] in
      try? await pooled.shutdown()
      try? await fresh.shutdown()
    }
  }

  /// Closes all connections.
  /// - Throws: An error of AsyncHTTPClient, e.g. for a second call.
  func shutdown() async throws {
    isShutDown.store(true, ordering: .relaxed)
    try await pooled.shutdown()
    try await fresh.shutdown()
  }
}
