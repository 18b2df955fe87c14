import Coverage
import Driving
import Foundation
import Logging
import Networking
import Pinging
import Positioning
import Settings
import SpeedTest
import Submission
import Synchronization
import SystemServices

/// Positions, modem state, link and settings for speed tests: of one `speedtest`, or of all tests of a loop.
package struct TestSetup: Sendable {
  /// The latest position and modem state, which ``follow(onFix:)`` writes and tests read.
  package let conditions = TestConditions()
  /// The drive beside the tests.
  package let observer = DriveTestObserver()
  /// The parts of the process that tests use.
  package let tests: ControlledTest.Environment
  package let options: TestOptions
  private let positions: PositionFeed
  private let radio: RadioMonitor
  /// The route of the tests.
  package let path: PathMonitor

  package init(_ configuration: ProbeConfiguration, _ environment: DriveEnvironment) {
    // Tests use the first link.
    let link = configuration.driveLinks[0]
    var options = TestOptions()
    (options.access.interface, options.access.family) = (link.interface, configuration.pings.family)
    options.access.verifiesCertificate = configuration.speedTest.verifiesCertificate
    options.access.caFile = configuration.controlServer.caFile
    (options.runsQoS, options.qosEncryption) = (configuration.speedTest.qos, configuration.speedTest.qosTLS)
    self.options = options
    positions = environment.positions
    radio = RadioMonitor(
      source: link.radio, interface: link.interface, mayConfigure: configuration.configuresModem,
      logger: environment.logger.naming(link.name))
    // The drive beside the tests logs the same changes; without one, the notices of the loop and the result name the link.
    var quiet = environment.logger
    quiet.logLevel = .error
    // Until the first test, the route to the control server decides.
    path = PathMonitor(
      source: link.network, interface: link.interface, destination: URL(string: environment.server.url)?.host(),
      logger: quiet)
    tests = ControlledTest.Environment(
      store: environment.store, sender: environment.sender, timekeeper: environment.timekeeper,
      conditions: conditions, path: path, observer: observer, logger: environment.logger)
  }

  /// Follows the sources until the task is cancelled.
  /// - Parameter onFix: Receives each position, also the loss of it.
  package func follow(
    onFix: @escaping @Sendable (Fix) -> Void = { _ in }, onPath: @escaping @Sendable (PathReading) -> Void = { _ in }
  ) async {
    await withTaskGroup { group in
      group.addTask { [radio, conditions] in await radio.run { conditions.note($0) } }
      group.addTask { [path, conditions] in
        await path.run { reading in
          conditions.note(reading)
          onPath(reading)
        }
      }
      group.addTask { [path] in
        while (try? await Task.sleep(for: .seconds(1))) != nil { path.readFile() }
      }
      group.addTask { [positions, conditions] in
        await positions.deliver { event in
          switch event {
          case .fix(let fix):
            // Before the conditions: a loop that waited for them has the position.
            onFix(fix.fix)
            conditions.note(fix.fix, at: fix.arrival)
          default: break
          }
        }
      }
    }
  }
}

extension LoopHost {
  /// The clocks of this host, with the selected wall time.
  package static func host(_ environment: DriveEnvironment) -> LoopHost {
    LoopHost(bootID: HostBoot.id) { [timekeeper = environment.timekeeper] in
      // In this order: an interruption between the two must not look like a suspend.
      let boot = Duration.nanoseconds(Int64(clamping: Pinger.now))
      let awake = HostBoot.awake
      let wall = timekeeper.now
      return LoopMoment(boot: boot, awake: awake, wall: WallTime.plausible.contains(wall) ? wall : nil)
    }
  }
}

extension ProbeConfiguration {
  /// The rules of a loop.
  /// - Parameter change: Changes the configured settings, as options of a command do.
  /// - Throws: `LoopFault`
  public func loopRules(_ change: (inout LoopSettings) -> Void = { _ in }) throws -> LoopRules {
    var settings = loop
    change(&settings)
    return try LoopRules(
      count: settings.count, every: settings.every, distance: settings.distance, duration: settings.duration,
      afterRestart: settings.resumes ? .resume : .end, allowsOtherLinks: settings.allowsOtherLinks, data: try dataLimits
    )
  }

  /// The limits of `speedtest.data-limit`.
  /// - Throws: `LoopFault`, never for values of the configuration.
  package var dataLimits: DataLimits {
    get throws { try DataLimits(day: speedTest.dataLimitOfDay, month: speedTest.dataLimitOfMonth) }
  }
}

/// Connects speed tests with the running drive, which pauses or marks its pings. The service or `record` sets the drive; tests
/// call from their own tasks. Without a drive, calls do nothing.
package final class DriveTestObserver: TestObserver {
  private struct State {
    var drive: LiveDrive?
    var isTesting = false
    var part: SpeedTestDelay.Part?
  }

  private let state = Mutex(State())

  /// The drive that runs from now on; `nil` for none. A test under way counts as begun with it.
  package func follow(_ drive: LiveDrive?) {
    state.withLock {
      $0.drive = drive
      guard $0.isTesting else { return }
      drive?.speedTestBegan()
      drive?.speedTest(loads: $0.part)
    }
  }

  package func testBegan() {
    state.withLock {
      ($0.isTesting, $0.part) = (true, nil)
      $0.drive?.speedTestBegan()
    }
  }

  package func test(loads part: SpeedTestDelay.Part?) {
    state.withLock {
      $0.part = part
      $0.drive?.speedTest(loads: part)
    }
  }

  package func testEnded() {
    state.withLock {
      $0.isTesting = false
      $0.drive?.speedTestEnded()
    }
  }

  package func delays() async -> [SpeedTestDelay] { await state.withLock { $0.drive }?.delaysOfSpeedTest() ?? [] }
}
