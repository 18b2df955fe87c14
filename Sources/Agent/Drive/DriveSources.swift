import ControlServer
import Coverage
import Logging
import NetworkPath
import Pinging
import Positioning
import Submission

/// Everything that tells a drive something, joined into one stream of inputs.
final class DriveSources: Sendable {
  let inputs: AsyncStream<DriveInput>
  let pinger: Pinger
  private let continuation: AsyncStream<DriveInput>.Continuation
  private let gpsd: GPSD
  private let path: PathMonitor
  private let radio: RadioMonitor
  private let server: ControlServerClient
  private let registration: Registration
  private let family: PingAddress.Family?
  private let initialPath: Path
  private let onTestRequest: @Sendable () -> Void

  /// - Parameter onTestRequest: Called before each request for a test.
  init(
    configuration: ProbeConfiguration, path: PathMonitor, initialPath: Path, server: ControlServerClient,
    registration: Registration, logger: Logger, onTestRequest: @escaping @Sendable () -> Void = {}
  ) throws {
    self.onTestRequest = onTestRequest
    (inputs, continuation) = AsyncStream.makeStream()
    pinger = try Pinger()
    gpsd = GPSD(
      configuration: GPSD.Configuration(
        host: configuration.gpsd.host, port: configuration.gpsd.port, device: configuration.gpsd.device,
        staleAfter: configuration.gpsd.staleAfter),
      logger: logger)
    self.path = path
    self.initialPath = initialPath
    radio = RadioMonitor(source: configuration.radio, logger: logger)
    self.server = server
    self.registration = registration
    family = configuration.pings.family
  }

  func start(in group: inout TaskGroup<Void>) {
    let inputs = continuation
    group.addTask { [radio] in await radio.run { inputs.yield(.radio($0)) } }
    group.addTask { [path, initialPath] in await path.run(from: initialPath) { inputs.yield(.path($0)) } }
    group.addTask { [gpsd] in await gpsd.run { inputs.yield(.positioning($0)) } }
    group.addTask { [pinger] in for await event in pinger.events { inputs.yield(.ping(event)) } }
    group.addTask { await Self.tickEachSecond { inputs.yield(.tick) } }
  }

  /// Ends the pings and the stream.
  func stop() {
    pinger.shutdown()
    continuation.finish()
  }

  /// - Returns: Whether there was still something to stop.
  func requestStop() -> Bool {
    if case .terminated = continuation.yield(.stop) { false } else { true }
  }

  /// Asks the control server for a test, and answers with an input.
  func requestTest(
    for generation: PingSession.Generation, at time: DriveTime, started: WallTime, loopUUID: String?
  ) {
    onTestRequest()
    Task {
      do {
        let request = CoverageRequest(
          clientUUID: try await registration.clientUUID(), loopUUID: loopUUID, time: started + time)
        let grant = Grant(coverage: try await server.requestCoverage(request), requested: time)
        continuation.yield(.granted(grant, for: generation))
      } catch {
        continuation.yield(.requestFailed(reason: "\(error)", for: generation))
      }
    }
  }

  /// Looks up the ping server of a test, and answers with an input.
  func resolve(_ grant: Grant, for generation: PingSession.Generation) {
    Task {
      do {
        let wanted = family ?? grant.coverage.ipVersion.flatMap(PingAddress.Family.init)
        let addresses = try await PingAddress.resolve(
          grant.coverage.pingHost, port: grant.coverage.pingPort, family: wanted)
        continuation.yield(.resolved(addresses[0], grant, for: generation))
      } catch {
        continuation.yield(.unresolved(reason: "\(error)", for: generation))
      }
    }
  }

  /// Resolves a host again as `address` was, and answers with an input.
  func lookUp(_ host: String, like address: PingAddress) {
    Task {
      let found = try? await PingAddress.resolve(host, port: address.port, family: address.family)
      continuation.yield(.lookedUp(host: host, addresses: found ?? []))
    }
  }

  private static func tickEachSecond(_ deliver: () -> Void) async {
    let clock = ContinuousClock()
    var next = clock.now
    while !Task.isCancelled {
      deliver()
      next = max(next + .seconds(1), clock.now)
      do { try await clock.sleep(until: next, tolerance: .milliseconds(20)) } catch { return }
    }
  }
}
