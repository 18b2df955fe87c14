import Coverage
import Foundation
import Logging
import Pinging
import Positioning
import Settings
import Store
import Submission
import TestSupport
import Testing

@testable import Driving

/// A drive on several links.
struct LiveDriveTests {
  private let store: DriveStore
  private let environment: DriveEnvironment
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    let logger = Logger.quiet
    let server = try ControlServerClient(
      url: "http://127.0.0.1:9/RMBTControlServer", caFile: nil, requestTimeout: .seconds(1), device: .sample)
    let clock = SenderClock(
      wall: { .sampleStart }, boot: { .nanoseconds(Int64(clamping: Pinger.now)) }, bootID: "boot 1",
      sleep: { try await Task.sleep(for: $0) })
    let timekeeper = try Timekeeper(store: store, server: server, clock: clock, logger: logger)
    environment = DriveEnvironment(
      store: store, server: server,
      sender: try Sender(store: store, server: server, clock: clock, timekeeper: timekeeper, logger: logger),
      positions: PositionFeed(GPSDConfiguration(), zones: [], timekeeper: timekeeper, logger: logger),
      timekeeper: timekeeper, logger: logger)
  }

  private func links(_ names: String...) -> [LinkSettings] {
    names.map { LinkSettings(name: $0, interface: nil, network: .auto, radio: .none) }
  }

  @Test("when a drive cannot begin on one of its links, then nothing of the others is left")
  func allOrNone() async throws {
    /// No log can have this name.
    let links = links("A", "no/folder")
    await #expect(throws: DriveLogError.self) {
      try await LiveDrive.open(options: DriveOptions(links: links), continuing: [:], environment: environment)
    }
    #expect(try drives(store).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory.driveLogs).isEmpty)
    _ = try await LiveDrive.open(options: DriveOptions(links: [links[0]]), continuing: [:], environment: environment)
    #expect(try drives(store).count == 1)
  }

  @Test("when a speed test runs, then the pings pause on the first link, which it uses, and not on the second")
  func speedTest() async throws {
    let drive = try await LiveDrive.open(
      options: DriveOptions(links: links("A", "B"), pingTimeout: .milliseconds(100)), continuing: [:],
      environment: environment)
    drive.speedTestBegan()
    let seconds = Collected<[DriveStatus]>()
    async let summaries = drive.run { seconds.append($0) }
    _ = try await eventually("two seconds of the drive") { seconds.all.count >= 2 ? () : nil }
    _ = await drive.delaysOfSpeedTest()
    drive.speedTestEnded()
    drive.requestStop()
    #expect(await summaries.count == 2)
    let logs = try FileManager.default.contentsOfDirectory(atPath: store.directory.driveLogs).sorted()
    let paused = try logs.filter {
      try String(contentsOfFile: store.directory.driveLogs + "/" + $0, encoding: .utf8).contains("a speed test runs")
    }
    #expect(logs.count == 2 && paused == [logs[0]], "\(logs)")
  }

  @Test(
    "when a drive with pings on their way is stopped, or its task is cancelled, then it ends", arguments: [true, false])
  func end(isCancelled: Bool) async throws {
    let silent = try DatagramReceiver()
    let target = DriveTarget(.udpEcho, host: "127.0.0.1", port: silent.port)
    var options = DriveOptions(links: links("A"), pingTimeout: .milliseconds(300))
    options.target = TargetPings(target, secret: [])
    let drive = try await LiveDrive.open(options: options, continuing: [:], environment: environment)
    let seconds = Collected<[DriveStatus]>()
    let running = Task { await drive.run { seconds.append($0) } }
    _ = try await eventually("lost pings") { seconds.all.last?.first.map { $0.totals.lost > 0 } == true ? () : nil }
    if isCancelled { running.cancel() } else { drive.requestStop() }
    let summary = try #require(await running.value.first)
    #expect(summary.totals.pings > 0 && summary.totals.lost == summary.totals.pings)
  }

  private func drives(_ store: DriveStore) throws -> [WallTime] { try store.clocks.timesOfBoot(HostBoot.id) }
}
