import Logging
import Store

/// This device's client UUID at the control server: confirmed once a process, stored permanently.
actor Registration {
  private let store: DriveStore
  private let server: GatedServer
  private let mutex = AsyncMutex()
  private var confirmed: String?
  /// The registration of this process that the disk refused.
  private var unstored: String?
  private let logger: Logger

  init(store: DriveStore, server: GatedServer, logger: Logger) {
    (self.store, self.server, self.logger) = (store, server, logger)
  }

  /// The client UUID; registers it with the server first, if this process has not done so. Concurrent callers share
  /// one registration.
  ///
  /// It asks the gate even when no request is needed, so that the caller may send its own request next.
  /// - Throws: ``ServerGate/Hold``, ``ServerFailure``, `CancellationError`, GRDB's `DatabaseError`
  func clientUUID(for exchange: GatedServer.Exchange) async throws -> String {
    try await server.admit(exchange)
    return try await mutex.run { try await self.confirmedUUID(exchange) }
  }

  /// Makes the next ``clientUUID(for:)`` ask the server again: it may be unreachable, or may have lost this device.
  func doubt() { confirmed = nil }

  private func confirmedUUID(_ exchange: GatedServer.Exchange) async throws -> String {
    if let confirmed { return confirmed }
    let stored = try await store.servers.clientUUID(at: server.url)
    let uuid = try await server.send(exchange) { [known = unstored ?? stored] in
      try await $0.settings(clientUUID: known)
    }
    if uuid != stored { try await persist(uuid) }
    confirmed = uuid
    return uuid
  }

  /// A disk that refuses the registration must prevent no measurement: this process goes on with it.
  private func persist(_ uuid: String) async throws {
    do {
      try await store.servers.setClientUUID(uuid, at: server.url)
      unstored = nil
    } catch let error where StoreError.sendingTrouble(error) != nil {
      if unstored == nil { logger.warning("the registration cannot be stored: \(StoreError.line(error))") }
      unstored = uuid
    }
  }
}
