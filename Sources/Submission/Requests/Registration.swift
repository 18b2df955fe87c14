import ControlServer
import DriveStore

/// This device's name at the control server: confirmed once a process, persisted in the store for ever.
actor Registration {
  private let store: DriveStore
  private let server: GatedServer
  private let turn = Turn()
  private var confirmed: String?

  init(store: DriveStore, server: GatedServer) {
    self.store = store
    self.server = server
  }

  /// The client UUID, registered with the server now if that was not done in this process. Concurrent callers share one
  /// registration.
  ///
  /// It asks the gate also when no request is needed: a caller that gets the client UUID may send.
  /// - Throws: ``ServerGate/Hold``, `ControlServer.ServerFailure`, `CancellationError`, GRDB's `DatabaseError`
  func clientUUID(for exchange: GatedServer.Exchange) async throws -> String {
    try await server.admit(exchange)
    return try await turn.run { try await self.confirmedUUID(exchange) }
  }

  /// Asks the server again with the next ``clientUUID(for:)``: it may be away, or have forgotten this device.
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
