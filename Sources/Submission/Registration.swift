import ControlServer
import DriveStore

/// This device's name at the control server: asked for once a process, kept in the store for ever.
public actor Registration {
  private let store: DriveStore
  private let server: ControlServerClient
  /// The registration of this process: those who ask at the same time get the same name.
  private var registering: Task<String, any Error>?

  public init(store: DriveStore, server: ControlServerClient) {
    self.store = store
    self.server = server
  }

  /// The client UUID, registered with the server now if that was not done in this process.
  /// - Throws: ``ControlServer/ServerFailure``, or GRDB's `DatabaseError` when it cannot be kept.
  public func clientUUID() async throws -> String {
    let task = registering ?? Task { try await register() }
    registering = task
    do {
      return try await task.value
    } catch {
      if registering == task { registering = nil }
      throw error
    }
  }

  private func register() async throws -> String {
    let known = try await store.clientUUID(at: server.url)
    let uuid = try await server.settings(clientUUID: known)
    if uuid != known { try await store.setClientUUID(uuid, at: server.url) }
    return uuid
  }
}
