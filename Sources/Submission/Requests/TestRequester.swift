import Coverage
import Foundation
import Logging
import Networking

/// Requests tests for drives and speed tests, beside the passes. If the server does not know this device, each registers it again and repeats
/// its request once.
///
/// All throw ``ServerGate/Hold`` when no request may leave now, ``ServerFailure``, `CancellationError`, and GRDB's `DatabaseError`.
public struct TestRequester: Sendable {
  /// A speed test that the server has made.
  public struct Granted: Hashable, Sendable {
    /// The server's answer.
    public let grant: SpeedTestGrant
    /// The client UUID of the request; the result must carry it.
    public let clientUUID: String
    /// The URL of the control server.
    public let url: String
    /// Whether the server did not know the loop of the request and began another one.
    public internal(set) var isInNewLoop = false
  }

  /// A speed test that the server has made and that cannot run: it has to be closed there.
  public struct Unusable: Error, Hashable, CustomStringConvertible {
    /// The server's identifier of the test.
    public let testUUID: String
    /// The client UUID of the request.
    public let clientUUID: String
    /// The URL of the control server.
    public let url: String
    /// Why it cannot run.
    public let failure: ServerFailure

    /// One line for an operator.
    public var description: String { "\(failure)" }
  }

  let server: GatedServer
  let registration: Registration
  let logger: Logger

  /// Requests a test to ping on.
  /// - Parameters:
  ///   - loopUUID: The loop that the test continues; `nil` for a new one.
  ///   - interface: The network interface for the request, the same as for the pings; `nil`: any.
  ///   - family: The IP version for the request, the same as for the pings; `nil`: either.
  public func requestTest(
    loopUUID: String?, at time: WallTime, by interface: String? = nil, family: IPVersion? = nil
  ) async throws -> CoverageGrant {
    let way = FetchRequest.Connection.fresh(interface: interface, version: family)
    return try await registered(by: way) { exchange, client in
      let request = CoverageRequest(clientUUID: client, loopUUID: loopUUID, time: time)
      return try await server.send(exchange) { try await $0.requestCoverage(request, by: way) }
    }
  }

  /// Requests a speed test. If the server does not know the loop, begins a new one there.
  /// - Parameters:
  ///   - interface: The network interface for the request, the same as for the test; `nil`: any.
  ///   - family: The IP version for the request, the same as for the test; `nil`: either.
  /// - Throws: Also ``Unusable``.
  public func requestSpeedTest(
    by interface: String? = nil, family: IPVersion? = nil, _ compose: @Sendable (String) -> SpeedTestRequest
  ) async throws -> Granted {
    let way = FetchRequest.Connection.fresh(interface: interface, version: family)
    do {
      return try await speedTest(way, compose)
    } catch let failure as ServerFailure where failure.isUnknownLoop {
      logger.notice("the control server does not know the loop any more; it gets a new name")
      var granted = try await speedTest(way) { client in
        var request = compose(client)
        request.loop?.uuid = nil
        return request
      }
      granted.isInNewLoop = true
      return granted
    }
  }

  /// Requests the QoS tests of a speed test.
  /// - Parameter request: As it was for the speed test.
  /// - Returns: The server's answer, a JSON object.
  public func qosTests(_ request: SpeedTestRequest) async throws -> Data {
    try await exchange { exchange in
      try await server.admit(exchange)
      return try await server.send(exchange) { try await $0.requestQoS(request) }
    }
  }

  private func speedTest(
    _ way: FetchRequest.Connection, _ compose: @Sendable (String) -> SpeedTestRequest
  ) async throws -> Granted {
    try await registered(by: way) { exchange, client in
      let request = compose(client)
      let answer = try await server.send(exchange) { try await $0.requestSpeedTest(request, by: way) }
      switch answer {
      case .granted(let grant, let oddities):
        for oddity in oddities { logger.warning("\(oddity)") }
        return Granted(grant: grant, clientUUID: client, url: server.url)
      case .unusable(let test, let failure):
        throw Unusable(testUUID: test, clientUUID: client, url: server.url, failure: failure)
      }
    }
  }

  /// Runs one exchange with the client UUID. Where the device has to be registered first, that request leaves as `body`'s does.
  private func registered<Answer: Sendable>(
    by way: FetchRequest.Connection, _ body: @Sendable (GatedServer.Exchange, String) async throws -> Answer
  ) async throws -> Answer {
    func once() async throws -> Answer {
      try await exchange { try await body($0, try await registration.clientUUID(for: $0, by: way)) }
    }
    do {
      return try await once()
    } catch let failure as ServerFailure where Verdict(failure) == .unknownClient {
      logger.notice("the control server does not know this device any more; registering again")
      await registration.refuse()
      return try await once()
    }
  }

  /// Runs requests that belong together, with one call of the gate, and ends it by how `body` ends.
  private func exchange<Answer: Sendable>(
    _ body: @Sendable (GatedServer.Exchange) async throws -> Answer
  ) async throws -> Answer {
    let exchange = GatedServer.Exchange()
    do {
      let answer = try await body(exchange)
      await server.end(exchange, .success)
      return answer
    } catch {
      let failure = error as? ServerFailure ?? (error as? Unusable)?.failure
      await server.end(exchange, Task.isCancelled ? .cancelled : failure.map { .failed($0) } ?? .cancelled)
      throw error
    }
  }
}
