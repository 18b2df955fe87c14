import Coverage
import Logging

/// Requests tests for drives, beside the passes.
public struct TestRequester: Sendable {
  private let server: GatedServer
  private let registration: Registration
  private let logger: Logger

  init(server: GatedServer, registration: Registration, logger: Logger) {
    (self.server, self.registration, self.logger) = (server, registration, logger)
  }

  /// Requests a test to ping on, if the gate lets the request leave. If the server does not know this device,
  /// registers it again and repeats the request once.
  /// - Parameters:
  ///   - loopUUID: The loop that the test continues; `nil` for a new one.
  ///   - time: When the test begins.
  ///   - interface: The network interface for the request, the same as for the pings; `nil`: any.
  ///   - family: The IP version for the request, the same as for the pings; `nil`: either.
  /// - Throws: ``ServerGate/Hold`` when no request may leave now, ``ServerFailure``, `CancellationError`,
  ///   GRDB's `DatabaseError`
  public func requestTest(
    loopUUID: String?, at time: WallTime, by interface: String? = nil, family: IPVersion? = nil
  ) async throws -> CoverageGrant {
    do {
      return try await requestOnce(loopUUID, time, interface, family)
    } catch let failure as ServerFailure where Verdict(failure) == .unknownClient {
      logger.notice("the control server does not know this device any more; registering again")
      await registration.doubt()
      return try await requestOnce(loopUUID, time, interface, family)
    }
  }

  /// One exchange, with the registration if it is needed.
  private func requestOnce(
    _ loopUUID: String?, _ time: WallTime, _ interface: String?, _ family: IPVersion?
  ) async throws -> CoverageGrant {
    let exchange = GatedServer.Exchange()
    do {
      let client = try await registration.clientUUID(for: exchange)
      let grant = try await server.requestCoverage(
        CoverageRequest(clientUUID: client, loopUUID: loopUUID, time: time), isForPings: true, by: interface,
        family: family, in: exchange)
      await server.end(exchange, .success)
      return grant
    } catch {
      await server.end(exchange, Self.outcome(of: error))
      throw error
    }
  }

  static func outcome(of error: any Error) -> ServerGate.Outcome {
    guard !Task.isCancelled, let failure = error as? ServerFailure else { return .cancelled }
    return .failed(failure)
  }
}
