import Foundation
import Synchronization

/// The control connections of a run: one for each QoS server, opened for the first test that needs it and used by the tests of
/// all groups (docs/protocol.md, edge 46). The next test replaces a connection that has ended.
final class QTPConnections: Sendable {
  /// One server's connection. The lock is held while it is opened, so that tests of a group share one.
  private struct Place {
    let opening = NSLock()
    var connection: QTPConnection?
  }

  private struct State {
    var places: [QoSServer: Place] = [:]
    /// Whether ``close()`` was called: connections that are opened after it are closed at once.
    var isOver = false
  }

  private let state = Mutex(State())
  private let plan: QoSPlan
  /// `nil`: no TLS. A failure is kept for the tests, each of which reports it.
  private let tls: Result<TLSContext?, SpeedTestError>
  private let source: Addresses.Address?
  private let counter: TrafficCounter

  /// - Parameter source: The address that connections come from; `nil`: the kernel's choice.
  init(_ plan: QoSPlan, source: Addresses.Address?, counter: TrafficCounter = TrafficCounter()) {
    (self.plan, self.source, self.counter) = (plan, source, counter)
    tls = Result { () throws(SpeedTestError) in
      guard plan.encryption != .never else { return nil }
      return try TLSContext(verifies: plan.access.verifiesCertificate, caFile: plan.access.caFile)
    }
  }

  /// The open connection to `server`; opens one if there is none.
  /// - Parameter idle: ns that the server is to wait between two commands, moved into its 15 to 60 s. It counts for a new connection
  ///   only.
  /// - Throws: ``SpeedTestError/aborted`` also when the run has ended.
  func connection(to server: QoSServer, idle: Int64, _ waiting: Waiting) throws(SpeedTestError) -> QTPConnection {
    let opening = state.withLock { state in
      let place = state.places[server] ?? Place()
      state.places[server] = place
      return place.opening
    }
    // A server that is slow to answer holds up only tests that need it, until their own time is over.
    // Tried every 10 ms: `lock(before:)` waits until a wall time, and would wait for too long after the wall clock is set back.
    while !opening.try() {
      if waiting.clock.isAborted() { throw .aborted }
      if waiting.clock.now() >= waiting.deadline { throw .timeout("the QoS server") }
      Thread.sleep(forTimeInterval: 0.01)
    }
    defer { opening.unlock() }
    if let connection = state.withLock({ $0.places[server]?.connection }), connection.isOpen { return connection }
    let connection = try open(server, idle: idle, waiting)
    // A run that ended meanwhile closes no more connections.
    let isInTime = state.withLock { state in
      if !state.isOver { state.places[server]?.connection = connection }
      return !state.isOver
    }
    guard isInTime else {
      connection.close()
      throw .aborted
    }
    return connection
  }

  private func open(_ server: QoSServer, idle: Int64, _ waiting: Waiting) throws(SpeedTestError) -> QTPConnection {
    let transport = CountedTransport(try transport(to: server, waiting), counter)
    let connection = try QTPConnection(transport, token: plan.token, waiting: waiting)
    // Before anything else: without it, the server closes after 15 s of silence (docs/protocol.md, edge 46). A server that refuses, or does
    // not reply, serves tests all the same.
    let time = min(max(idle / 1_000_000, 15_000), 60_000)
    _ = try? connection.request(
      .connectionTimeout(time), until: min(waiting.deadline, waiting.clock.now() + 2_000_000_000))
    return connection
  }

  /// A connected stream, with TLS as the plan says. For `auto`: a server without TLS greets at once, which breaks a handshake;
  /// one with TLS waits for it.
  private func transport(to server: QoSServer, _ waiting: Waiting) throws(SpeedTestError) -> any Transport {
    let tls = try tls.get()
    let addresses = try Addresses.ofServer(
      server.host, port: server.port, family: plan.access.family, interface: plan.access.interface)
    let dialer = Dialer(waiting: waiting, source: source, interface: plan.access.interface)
    let socket = try dialer.connect(addresses)
    guard let tls else { return socket }
    do {
      return try dialer.secure(socket, context: tls, host: server.host)
    } catch .noTLS where plan.encryption == .auto {
      socket.close()
      return try dialer.connect(addresses)
    }
  }

  /// Sends QUIT on all connections. A connection that is being opened closes itself.
  func close() {
    let open = state.withLock { state in
      state.isOver = true
      return state.places.values.compactMap(\.connection)
    }
    open.forEach { $0.close() }
  }
}
