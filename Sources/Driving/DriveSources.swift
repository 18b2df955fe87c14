import ControlServer
import Coverage
import Foundation
import Logging
import NetworkPath
import Pinging
import Positioning
import Settings
import Submission

/// The sources of a drive on one link, joined into one stream.
final class DriveSources: Sendable {
  let signals: AsyncStream<DriveSignal>
  let pinger: Pinger
  private let continuation: AsyncStream<DriveSignal>.Continuation
  private let positions: PositionFeed
  private let path: PathMonitor
  private let radio: RadioMonitor
  private let sender: Sender
  private let family: PingAddress.Family?
  private let interface: String?
  /// The kind of link at the start.
  let initialPath: Path

  init(
    link: LinkSettings, family: PingAddress.Family?, positions: PositionFeed, server: ControlServerClient,
    sender: Sender, logger: Logger
  ) throws {
    (signals, continuation) = AsyncStream.makeStream()
    pinger = try Pinger()
    self.positions = positions
    path = PathMonitor(
      source: link.network, interface: link.interface, destination: URL(string: server.url)?.host(), logger: logger)
    initialPath = path.current.path
    radio = RadioMonitor(source: link.radio, logger: logger)
    self.sender = sender
    self.family = family
    interface = link.interface
  }

  /// Interval between reads of ping events. They are also read before every other input. Reading each one at once
  /// would cost more processor time than the ping.
  private static let pingsPeriod: Duration = .milliseconds(500)

  func start(in group: inout TaskGroup<Void>) {
    let signals = continuation
    // Before the first status.
    signals.yield(.input(.path(path.current)))
    group.addTask { [radio] in await radio.run { signals.yield(.input(.radio($0))) } }
    group.addTask { [path] in await path.run { signals.yield(.input(.path($0))) } }
    group.addTask { [positions] in await positions.deliver { signals.yield(.input(.positioning($0))) } }
    group.addTask { await eachSecond { signals.yield(.tick) } }
    group.addTask { await each(Self.pingsPeriod) { signals.yield(.pingsDue) } }
  }

  /// Ends the pings and the stream.
  func stop() {
    pinger.shutdown()
    continuation.finish()
  }

  /// - Returns: Whether the stream was still open.
  func requestStop() -> Bool {
    if case .terminated = continuation.yield(.input(.stop)) { false } else { true }
  }

  /// Requests a test from the control server, and yields the answer as an input. The sender starts a pass first, for
  /// waiting fences.
  /// - Returns: The request; the caller cancels it when it no longer needs the answer.
  func requestTest(_ wanted: TestRequest) -> Task<Void, Never> {
    Task {
      let generation = wanted.generation
      do {
        await sender.nudge()
        let coverage: CoverageGrant
        do {
          coverage = try await requestTest(at: wanted.time, loopUUID: wanted.loopUUID)
        } catch let failure as ServerFailure where failure.isUnknownLoop && wanted.loopUUID != nil {
          coverage = try await requestTest(at: wanted.time, loopUUID: nil)
        }
        let grant = Grant(coverage: coverage, generation: generation, requested: wanted.at, told: wanted.time)
        continuation.yield(.input(.granted(grant, for: generation)))
      } catch {
        continuation.yield(.input(.requestFailed(TestTrouble(error), for: generation)))
      }
    }
  }

  private func requestTest(at time: WallTime, loopUUID: String?) async throws -> CoverageGrant {
    try await sender.tests.requestTest(
      loopUUID: loopUUID, at: time, by: interface, family: family.flatMap { AddressFamily(rawValue: $0.rawValue) })
  }

  /// Looks up the address of a test's ping server, and yields the answer as an input.
  func resolve(_ grant: Grant, for generation: PingSession.Generation) {
    Task {
      do {
        let wanted = family ?? grant.coverage.ipVersion.flatMap(PingAddress.Family.init)
        let addresses = try await PingAddress.resolve(
          grant.coverage.pingHost, port: grant.coverage.pingPort, family: wanted)
        path.follow(addresses[0].host)
        continuation.yield(.input(.resolved(addresses[0], grant, for: generation)))
      } catch {
        continuation.yield(.input(.unresolved(reason: "\(error)", for: generation)))
      }
    }
  }

  /// Looks up a host again, for addresses of the family of `address`, and yields the answer as an input.
  func lookUp(_ host: String, like address: PingAddress) {
    Task {
      let found = try? await PingAddress.resolve(host, port: address.port, family: address.family)
      continuation.yield(.input(.lookedUp(host: host, addresses: found ?? [])))
    }
  }
}
