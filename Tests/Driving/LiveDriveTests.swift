import Coverage
import Foundation
import Logging
import Positioning
import Settings
import Store
import Submission
import TestSupport
import Testing

@testable import Driving

/// The beginning of a drive on several links.
struct LiveDriveTests {
  @Test("when a drive cannot begin on one of its links, then nothing of the others is left")
  func allOrNone() async throws {
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    let logger = Logger.quiet
    let server = try ControlServerClient(
      url: "http://127.0.0.1:9/RMBTControlServer", caFile: nil, requestTimeout: .seconds(1), device: .sample)
    let clock = SenderClock(
      wall: { .sampleStart }, boot: { .seconds(1000) }, bootID: "boot 1", sleep: { try await Task.sleep(for: $0) })
    let timekeeper = try Timekeeper(store: store, server: server, clock: clock, logger: logger)
    let environment = DriveEnvironment(
      store: store, server: server,
      sender: try Sender(store: store, server: server, clock: clock, timekeeper: timekeeper, logger: logger),
      positions: PositionFeed(GPSDConfiguration(), zones: [], timekeeper: timekeeper, logger: logger),
      timekeeper: timekeeper, logger: logger)
    /// No log can have this name.
    let names = ["A", "no/folder"]
    let links = names.map { LinkSettings(name: $0, interface: nil, network: .auto, radio: .none) }
    await #expect(throws: DriveLogError.self) {
      try await LiveDrive.open(options: DriveOptions(links: links), continuing: [:], environment: environment)
    }
    #expect(try drives(store).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory.driveLogs).isEmpty)
    _ = try await LiveDrive.open(options: DriveOptions(links: [links[0]]), continuing: [:], environment: environment)
    #expect(try drives(store).count == 1)
  }

  private func drives(_ store: DriveStore) throws -> [WallTime] { try store.clocks.timesOfBoot(HostBoot.id) }
}
