import ControlServer
import DriveStore

/// This device's client UUID at the control server: confirmed once a process, stored permanently.
actor Registration {
  private let store: DriveStore
  private let server: GatedServer
  private let mutex = AsyncMutex()
  private var confirmed: String?

  init(store: DriveStore, server: GatedServer) {
    self.store = store
    self.server = server
  }

  /// The client UUID; registers it with the server first, if this process has not done so. Concurrent callers share
  /// one registration.
  ///
  /// It asks the gate even when no request is needed, so that the caller may send its own request next.
  /// - Throws: ``ServerGate/Hold``, `ControlServer.ServerFailure`, `CancellationError`, GRDB's `DatabaseError`
  func clientUUID(for exchange: GatedServer.Exchange) async throws -> String {
    try await server.admit(exchange)
    return try await mutex.run { try await self.confirmedUUID(exchange) }
  }

  /// Makes the next ``clientUUID(for:)`` ask the server again: it may be unreachable, or may have lost this device.
  func doubt() { confirmed = nil }

  private func confirmedUUID(_ exchange: GatedServer.Exchange) async throws -> String {
    if let confirmed { return confirmed }
    let known = try await store.servers.clientUUID(at: server.url)
    let uuid = try await server.settings(clientUUID: known, in: exchange)
    if uuid != known { try await store.servers.setClientUUID(uuid, at: server.url) }
    confirmed = uuid
    return uuid
  }
}
