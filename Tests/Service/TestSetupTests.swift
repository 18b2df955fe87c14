import Coverage
import Driving
import Foundation
import Pinging
import Settings
import Store
import Submission
import SystemServices
import TestSupport
import Testing

@testable import Service
@testable import SpeedTest

/// The sources and settings of speed tests, with the GPS player instead of a receiver.
struct TestSetupTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func setup<Result: Sendable>(
    _ change: (inout ProbeConfiguration) -> Void, _ body: (TestSetup, DriveEnvironment) async throws -> Result
  ) async throws -> Result {
    var configuration = ProbeConfiguration.sample(in: folder)
    configuration.controlServer.url = ServiceRig.nowhere
    change(&configuration)
    let environment = try DriveEnvironment(
      configuration: configuration, purpose: "a test", server: try .configured(configuration, for: "a test"),
      logger: LogLines().logger)
    return try await body(TestSetup(configuration, environment), environment)
  }

  @Test("when nothing is configured, then tests use any interface and IP version, and certificates are verified")
  func defaults() async throws {
    #expect(try await setup({ _ in }) { setup, _ in setup.options } == TestOptions())
  }

  @Test("when settings of tests are changed, then tests have them, and use the first link")
  func options() async throws {
    let options = try await setup({
      $0.links = ["lo", "wwan1"].map { LinkSettings(name: $0, interface: $0, network: .auto, radio: .none) }
      $0.pings.family = .ipv6
      $0.speedTest.verifiesCertificate = false
      ($0.speedTest.qos, $0.speedTest.qosTLS) = (true, .always)
    }) { setup, _ in setup.options }
    var expected = TestOptions()
    (expected.access.interface, expected.access.family) = ("lo", .ipv6)
    (expected.access.verifiesCertificate, expected.runsQoS, expected.qosEncryption) = (false, true, .always)
    #expect(options == expected)
  }

  @Test("when the receiver has a position, then the tests and the loop have it, and the configured technology")
  func sources() async throws {
    let track = try folder.write(
      "seconds,latitude,longitude,speed_mps,course_deg,altitude_m,accuracy_m\n"
        + (0..<100).map { "\($0),48.2,16.37,10,0,170,4\n" }.joined(), to: "track.csv")
    let player = try await GPSPlayerTool(["--gpsd", track])
    try await setup({
      $0.gpsd.port = Int(player.port)
      $0.radio = .fixed(Technology("4G/LTE"))
    }) { setup, environment in
      let (fixes, found) = AsyncStream<Fix>.makeStream()
      let receiving = Task { await environment.positions.run() }
      let following = Task { await setup.follow { found.yield($0) } }
      defer {
        receiving.cancel()
        following.cancel()
      }
      await setup.conditions.waitUntilKnown(atMost: .seconds(20))
      let place = try #require(setup.conditions.place(at: .now))
      #expect(place.fix.coordinate == Coordinate(latitude: 48.2, longitude: 16.37))
      #expect(await fixes.first { $0.coordinate != nil }?.coordinate == place.fix.coordinate)
      #expect(setup.conditions.radio?.technology == Technology("4G/LTE"))
    }
  }

  @Test(
    "when the clocks of the host are read, then one counts sleep, none steps back, and the wall time is the timekeeper's"
  )
  func clocks() async throws {
    try await setup({ _ in }) { _, environment in
      let host = LoopHost.host(environment)
      #expect(host.bootID == HostBoot.id)
      let moments = (0..<100).map { _ in host.moment() }
      #expect(moments.allSatisfy { $0.boot >= $0.awake - .milliseconds(10) })
      #expect(zip(moments, moments.dropFirst()).allSatisfy { $0.boot <= $1.boot && $0.awake <= $1.awake })
      let wall = try #require(moments.last?.wall)
      #expect(abs(wall.microseconds - environment.timekeeper.now.microseconds) < 60_000_000)
    }
  }

  @Test("when options of a command change the loop, then its rules have them, and the configuration's other values")
  func rules() throws {
    var configuration = ProbeConfiguration.sample(in: folder)
    (configuration.loop.count, configuration.loop.distance, configuration.loop.resumes) = (3, 100, false)
    configuration.loop.duration = .seconds(3600)
    (configuration.speedTest.dataLimitOfDay, configuration.speedTest.dataLimitOfMonth) = (1 << 30, 1 << 34)
    let data = try DataLimits(day: 1 << 30, month: 1 << 34)
    let rules = try configuration.loopRules { $0.every = .seconds(600) }
    #expect(
      rules
        == (try LoopRules(
          count: 3, every: .seconds(600), distance: 100, duration: .seconds(3600), afterRestart: .end, data: data)))
    let count = #expect(throws: LoopFault.self) { try configuration.loopRules { $0.count = 501 } }
    #expect(count?.description.hasPrefix("the loop has 501 tests") == true)
    let endless = #expect(throws: LoopFault.self) {
      try configuration.loopRules { ($0.every, $0.distance) = (nil, nil) }
    }
    #expect(endless?.description.hasPrefix("the loop has neither a waiting time nor a distance") == true)
  }

  @Test("when a drive begins while a test runs, then its pings pause until the test has ended")
  func laterDrive() async throws {
    try await setup({ _ in }) { setup, environment in
      let link = LinkSettings(name: nil, interface: nil, network: .fixed(.cellular), radio: .none)
      let drive = try await LiveDrive.open(
        options: DriveOptions(links: [link]), continuing: [:], environment: environment)
      setup.observer.testBegan()
      setup.observer.follow(drive)
      let seconds = Collected<[DriveStatus]>()
      async let summaries = drive.run { seconds.append($0) }
      _ = try await eventually("two seconds of the drive") { seconds.all.count >= 2 ? () : nil }
      setup.observer.testEnded()
      drive.requestStop()
      _ = await summaries
      let folder = environment.store.directory.driveLogs
      let log = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
      #expect(try String(contentsOfFile: folder + "/" + log, encoding: .utf8).contains("a speed test runs"))
    }
  }

  @Test("when a test runs without a drive, then it has no delays")
  func alone() async {
    let observer = DriveTestObserver()
    observer.testBegan()
    observer.test(loads: .download)
    #expect(await observer.delays().isEmpty)
    observer.testEnded()
  }
}
