import ControlServer
import Coverage
import Foundation
import Logging
import NetworkPath
import Pinging
import Positioning
import Settings
import Submission

/// Everything that tells the drive on one link something, joined into one stream of inputs.
final class DriveSources: Sendable {
  let inputs: AsyncStream<DriveInput>
  let pinger: Pinger
  private let continuation: AsyncStream<DriveInput>.Continuation
  private let positions: PositionFeed
  private let path: PathMonitor
  private let radio: RadioMonitor
  private let sender: Sender
  private let family: PingAddress.Family?
  private let interface: String?
  /// The kind of link at the start.
  let initialPath: Path

  init(
    configuration: ProbeConfiguration, link: LinkSettings, positions: PositionFeed, server: ControlServerClient,
    sender: Sender, logger: Logger
  ) throws {
    (inputs, continuation) = AsyncStream.makeStream()
    pinger = try Pinger()
    self.positions = positions
    path = PathMonitor(
      source: link.network, interface: link.interface, destination: URL(string: server.url)?.host(), logger: logger)
    initialPath = path.current.path
    radio = RadioMonitor(source: link.radio, logger: logger)
    self.sender = sender
    family = configuration.pings.family
    interface = link.interface
  }

  /// What became of pings is read so often, and before anything else that happens: each hand-over from thread to thread costs more
  /// than a ping.
  private static let pingsPeriod: Duration = .milliseconds(500)

  func start(in group: inout TaskGroup<Void>) {
    let inputs = continuation
    // Before the first status.
    inputs.yield(.path(path.current))
    group.addTask { [radio] in await radio.run { inputs.yield(.radio($0)) } }
    group.addTask { [path] in await path.run { inputs.yield(.path($0)) } }
    group.addTask { [positions] in await positions.deliver { inputs.yield(.positioning($0)) } }
    group.addTask { await eachSecond { inputs.yield(.tick) } }
    group.addTask { await each(Self.pingsPeriod) { inputs.yield(.pingsDue) } }
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

  /// Asks the control server for a test, and answers with an input. What waits to be sent gets its pass, too.
  /// - Returns: The request, to be cancelled when its answer is not waited for any more.
  func requestTest(
    for generation: PingSession.Generation, at time: DriveTime, started: WallTime, loopUUID: String?
  ) -> Task<Void, Never> {
    Task {
      do {
        await sender.nudge()
        let coverage: CoverageGrant
        do {
          coverage = try await requestTest(at: started + time, loopUUID: loopUUID)
        } catch let failure as ServerFailure where failure.isUnknownLoop && loopUUID != nil {
          coverage = try await requestTest(at: started + time, loopUUID: nil)
        }
        let grant = Grant(coverage: coverage, generation: generation, requested: time, told: started + time)
        continuation.yield(.granted(grant, for: generation))
      } catch {
        continuation.yield(.requestFailed(TestTrouble(error), for: generation))
      }
    }
  }

  private func requestTest(at time: WallTime, loopUUID: String?) async throws -> CoverageGrant {
    try await sender.tests.requestTest(
      loopUUID: loopUUID, at: time, by: interface, family: family.flatMap { AddressFamily(rawValue: $0.rawValue) })
  }

  /// Looks up the ping server of a test, and answers with an input.
  func resolve(_ grant: Grant, for generation: PingSession.Generation) {
    Task {
      do {
        let wanted = family ?? grant.coverage.ipVersion.flatMap(PingAddress.Family.init)
        let addresses = try await PingAddress.resolve(
          grant.coverage.pingHost, port: grant.coverage.pingPort, family: wanted)
        path.follow(addresses[0].host)
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
}
