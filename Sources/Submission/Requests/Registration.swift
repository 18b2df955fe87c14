import Logging
import Networking
import Store

/// This device's client UUID at the control server, stored permanently. A pass confirms it once a process.
///
/// A drive or a speed test uses the known one without a request: that the server does not know it any more, the answer to its own request tells.
/// Else a silence on the way of the passes would look like one on the link that is measured.
actor Registration {
  private enum Standing { case known, confirmed, refused }

  private let store: DriveStore
  private let server: GatedServer
  /// Each way registers by itself: no link waits for the silence of another one.
  private var mutexes: [FetchRequest.Connection: AsyncMutex] = [:]
  private var standing = Standing.known
  /// The client UUID that this process has got from the server.
  private var registered: String?
  private var isTroubleLogged = false
  private let logger: Logger

  init(store: DriveStore, server: GatedServer, logger: Logger) {
    (self.store, self.server, self.logger) = (store, server, logger)
  }

  /// The client UUID; registers it with the server first, if that is needed. Concurrent callers of the same way share one registration.
  ///
  /// It asks the gate even when no request is needed, so that the caller may send its own request next.
  /// - Parameter way: That of the caller's own request; `.kept`: of a pass.
  /// - Throws: ``ServerGate/Hold``, ``ServerFailure``, `CancellationError`, GRDB's `DatabaseError`
  func clientUUID(
    for exchange: GatedServer.Exchange, by way: FetchRequest.Connection = .kept
  ) async throws -> String {
    try await server.admit(exchange)
    let mutex = mutexes[way] ?? AsyncMutex()
    mutexes[way] = mutex
    return try await mutex.run {
      if let known = try await self.usable(by: way) { return known }
      return try await self.register(exchange, by: way)
    }
  }

  /// Makes the next pass ask the server again: it may be unreachable, or may have lost this device.
  func doubt() { if standing == .confirmed { standing = .known } }

  /// The server does not know this device: the next ``clientUUID(for:by:)`` registers it again.
  func refuse() { standing = .refused }

  private func usable(by way: FetchRequest.Connection) async throws -> String? {
    guard standing == .confirmed || standing == .known && way != .kept else { return nil }
    if let registered { return registered }
    return try await store.servers.clientUUID(at: server.url)
  }

  private func register(_ exchange: GatedServer.Exchange, by way: FetchRequest.Connection) async throws -> String {
    let stored = try await store.servers.clientUUID(at: server.url)
    let known = registered ?? stored
    let uuid = try await server.send(exchange) { try await $0.settings(clientUUID: known, by: way) }
    // Another way may have registered this device meanwhile: all use the first one.
    if let registered, registered != known { return registered }
    registered = uuid
    if uuid != stored { try await persist(uuid) }
    standing = .confirmed
    return uuid
  }

  /// A disk that refuses the registration must prevent no measurement: this process goes on with it.
  private func persist(_ uuid: String) async throws {
    do {
      try await store.servers.setClientUUID(uuid, at: server.url)
      isTroubleLogged = false
    } catch let error where StoreError.sendingTrouble(error) != nil {
      if !isTroubleLogged { logger.warning("the registration cannot be stored: \(StoreError.line(error))") }
      isTroubleLogged = true
    }
  }
}
