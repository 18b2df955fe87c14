import ControlServer
import DriveStore

/// This device's name at the control server: asked for once a process, kept in the store for ever.
public actor Registration {
  private let store: DriveStore
  private let server: ControlServerClient
  private let turn = Turn()
  private var confirmed: String?

  public init(store: DriveStore, server: ControlServerClient) {
    self.store = store
    self.server = server
  }

  /// The client UUID, registered with the server now if that was not done in this process. Who asks at the same time gets the
  /// same one.
  /// - Throws: ``ControlServer/ServerFailure``, `CancellationError`, or GRDB's `DatabaseError` when it cannot be kept.
  public func clientUUID() async throws -> String {
    try await turn.run { try await self.confirmedUUID() }
  }

  /// Asks the server again with the next ``clientUUID()``: it may be away, or have forgotten this device.
  public func doubt() { confirmed = nil }

  private func confirmedUUID() async throws -> String {
    if let confirmed { return confirmed }
    let known = try await store.clientUUID(at: server.url)
    let uuid = try await server.settings(clientUUID: known)
    if uuid != known { try await store.setClientUUID(uuid, at: server.url) }
    confirmed = uuid
    return uuid
  }
}
