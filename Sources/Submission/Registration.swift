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

  /// The client UUID, registered with the server now if that was not done in this process. Concurrent callers share one
  /// registration.
  /// - Parameter check: Runs just before the request leaves, and throws if it may not.
  /// - Throws: ``ControlServer/ServerFailure``, `CancellationError`, GRDB's `DatabaseError` when it cannot be kept, what `check`
  ///   throws.
  public func clientUUID(_ check: @Sendable () async throws -> Void = {}) async throws -> String {
    try await turn.run { try await self.confirmedUUID(check) }
  }

  /// Asks the server again with the next ``clientUUID(_:)``: it may be away, or have forgotten this device.
  public func doubt() { confirmed = nil }

  private func confirmedUUID(_ check: @Sendable () async throws -> Void) async throws -> String {
    if let confirmed { return confirmed }
    let known = try await store.servers.clientUUID(at: server.url)
    try await check()
    let uuid = try await server.settings(clientUUID: known)
    if uuid != known { try await store.servers.setClientUUID(uuid, at: server.url) }
    confirmed = uuid
    return uuid
  }
}
