import Coverage
import Foundation
import Logging

/// Requests speed tests, beside the passes and the drives.
public struct SpeedTestRequester: Sendable {
  /// A test that the server has made.
  public struct Granted: Hashable, Sendable {
    /// The server's answer.
    public let grant: SpeedTestGrant
    /// The client UUID of the request; the result must carry it.
    public let clientUUID: String
    /// The URL of the control server.
    public let url: String
  }

  /// A test that the server has made and that cannot run: it has to be closed there.
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

  private let server: GatedServer
  private let registration: Registration
  private let logger: Logger

  init(server: GatedServer, registration: Registration, logger: Logger) {
    (self.server, self.registration, self.logger) = (server, registration, logger)
  }

  /// Requests a speed test, if the gate lets the request leave. If the server does not know this device, registers it again; if it does not
  /// know the loop, begins a new one there. Each repeats the request once.
  /// - Parameters:
  ///   - compose: The request for a client UUID.
  ///   - interface: The network interface for the request, the same as for the test; `nil`: any.
  ///   - family: The IP version for the request, the same as for the test; `nil`: either.
  /// - Throws: ``Unusable``; ``ServerGate/Hold`` when no request may leave now, ``ServerFailure``, `CancellationError`, GRDB's
  ///   `DatabaseError`
  public func request(
    by interface: String? = nil, family: IPVersion? = nil, _ compose: @Sendable (String) -> SpeedTestRequest
  ) async throws -> Granted {
    do {
      return try await requestOnce(interface, family, compose)
    } catch let failure as ServerFailure where Verdict(failure) == .unknownClient {
      logger.notice("the control server does not know this device any more; registering again")
      await registration.doubt()
      return try await requestOnce(interface, family, compose)
    } catch let failure as ServerFailure where failure.isUnknownLoop {
      logger.notice("the control server does not know the loop any more; it gets a new name")
      return try await requestOnce(interface, family) { client in
        var request = compose(client)
        request.loop?.uuid = nil
        return request
      }
    }
  }

  /// Requests the QoS tests of a speed test, if the gate lets the request leave.
  /// - Parameter request: As it was for the speed test.
  /// - Returns: The server's answer, a JSON object.
  /// - Throws: ``ServerGate/Hold``, ``ServerFailure``, `CancellationError`
  public func qosTests(_ request: SpeedTestRequest) async throws -> Data {
    let exchange = GatedServer.Exchange()
    do {
      try await server.admit(exchange)
      let answer = try await server.requestQoS(request, in: exchange)
      await server.end(exchange, .success)
      return answer
    } catch {
      await server.end(exchange, TestRequester.outcome(of: error))
      throw error
    }
  }

  /// One exchange, with the registration if it is needed.
  private func requestOnce(
    _ interface: String?, _ family: IPVersion?, _ compose: @Sendable (String) -> SpeedTestRequest
  ) async throws -> Granted {
    let exchange = GatedServer.Exchange()
    do {
      let client = try await registration.clientUUID(for: exchange)
      switch try await server.requestSpeedTest(compose(client), by: interface, family: family, in: exchange) {
      case .granted(let grant):
        await server.end(exchange, .success)
        return Granted(grant: grant, clientUUID: client, url: server.url)
      case .unusable(let test, let failure):
        await server.end(exchange, TestRequester.outcome(of: failure))
        throw Unusable(testUUID: test, clientUUID: client, url: server.url, failure: failure)
      }
    } catch let unusable as Unusable {
      throw unusable
    } catch {
      await server.end(exchange, TestRequester.outcome(of: error))
      throw error
    }
  }
}
