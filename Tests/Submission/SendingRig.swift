import Coverage
import Foundation
import GRDB
import Logging
import TestSupport

@testable import Store
@testable import Submission

/// A real store, the real control server tool, and clocks that the test turns.
final class SendingRig: Sendable {
  let folder: TemporaryFolder
  let store: DriveStore
  let tool: ControlServerTool
  let client: ControlServerClient
  private let registration: Registration
  let time: TurnedClock
  let lines: LogLines

  /// - Parameter requestTimeout: Of the HTTP client.
  init(requestTimeout: Duration = .seconds(5), tool: [String] = []) async throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    self.tool = try await ControlServerTool(tool)
    client = try Self.client(of: self.tool.url, requestTimeout: requestTimeout)
    time = TurnedClock()
    lines = LogLines()
    // A device that registered long ago: its registration leaves no clock in the store.
    registration = Registration(
      store: store,
      server: GatedServer(
        client, gate: ServerGate(), store: store, clock: time.clock,
        timekeeper: try Timekeeper(
          store: store, latestDate: { nil }, clock: time.clock(bootID: ""), logger: lines.logger),
        logger: lines.logger), logger: lines.logger)
  }

  static func client(of url: String, requestTimeout: Duration = .seconds(5)) throws -> ControlServerClient {
    try ControlServerClient(
      url: url, caFile: nil, requestTimeout: requestTimeout,
      device: Device(
        model: "test", device: "test", osVersion: "1", language: "en", timezone: "Etc/UTC", softwareVersion: "1.0",
        softwareVersionCode: 1, softwareRevision: "test"))
  }

  /// A sender as a process that starts now creates it.
  /// - Parameter server: `nil`: the server of the rig.
  func sender(
    to server: ControlServerClient? = nil, _ change: (inout SenderSettings) -> Void = { _ in }
  ) throws -> Sender {
    var settings = SenderSettings()
    change(&settings)
    let server = server ?? client
    return try Sender(store: store, server: server, settings: settings, clock: time.clock, logger: lines.logger)
  }

  /// Records a drive whose sessions have these tests.
  /// - Parameters:
  ///   - fences: Of each session.
  ///   - started: Seconds after ``WallTime/rigStart``.
  ///   - change: Changes a fence, given its number.
  func record(
    tests: [String?], fences: Int = 2, started: Double = 0, finalized: Bool = true,
    boot: (id: String, sinceBoot: Duration)? = nil, change: (Int, Fence) -> Fence = { $1 }
  ) throws -> Int64 {
    var recorder = try DriveRecorder(
      store, started: .rigStart.later(by: .seconds(started)), boot: boot, log: nil, server: tool.url)
    for (number, test) in tests.enumerated() {
      let start = Double(number) * 5000
      try recorder.save(
        sessions: [
          Session(
            number: number, testUUID: test, started: .seconds(start), anchor: test.map { _ in .seconds(start + 1) },
            finalized: finalized ? .seconds(start + 4000) : nil)
        ],
        fences: (0..<fences).map {
          let index = number * fences + $0
          return change(index, .sample(number: index, session: number, entered: start + Double($0) * 4))
        },
        seen: .seconds(start + 100))
    }
    return recorder.drive
  }

  /// Registers the device with the first call.
  func clientUUID() async throws -> String { try await registration.clientUUID(for: GatedServer.Exchange()) }

  func test() async throws -> String {
    let request = CoverageRequest(
      clientUUID: try await clientUUID(), loopUUID: nil, time: .rigStart.later(by: .seconds(1)))
    return try await client.requestCoverage(request).testUUID
  }

  func tests(_ count: Int) async throws -> [String] {
    var tests: [String] = []
    for _ in 0..<count { tests.append(try await test()) }
    return tests
  }

  /// How often the server holds each entry time: it shows whether fences are lost or duplicated.
  func received() async throws -> [Int: Int] {
    try await tool.fences().reduce(into: [:]) { counts, fence in
      counts[fence.integer("timestamp_microseconds") ?? -1, default: 0] += 1
    }
  }

  func holdsAllOnce(_ count: Int) async throws -> Bool {
    let received = try await received()
    return received.count == count && received.values.allSatisfy { $0 == 1 }
  }

  func requests(_ path: String) async throws -> Int { try await tool.requests(to: path).count }

  /// All requests so far, by their paths, oldest first.
  func paths() async throws -> [String] { try await tool.requests(to: "").compactMap { $0["path"] as? String } }

  func states() throws -> [StoredSession.State] {
    try StoreReader(store).sessions().map { $0.state(isWriterAlive: false) }
  }

  func finish() async throws {
    try await tool.program.stop()
  }
}

/// Clocks that stand still until the test, or a sleeping caller, turns them.
final class TurnedClock: Sendable {
  private struct State {
    var boot = Duration.seconds(1000)
    var bootID = "boot 1"
    var sleeps: [Duration] = []
    var holdsSleepers = false
    var wallError = Duration.zero
  }
  private let lock = NSLock()
  private nonisolated(unsafe) var state = State()

  /// Another boot of the host, which has just begun. Its wall clock goes on.
  func reboot() {
    lock.withLock {
      state.wallError += state.boot
      (state.boot, state.bootID) = (.zero, state.bootID + "+")
    }
  }

  func turn(by duration: Duration) { lock.withLock { state.boot += duration } }

  /// How far the wall clock is ahead of the true time.
  var wallError: Duration {
    get { lock.withLock { state.wallError } }
    set { lock.withLock { state.wallError = newValue } }
  }

  /// Sets the wall clock right by the clock of the server, which is this host's.
  /// - Returns: When the boot was, to the microsecond.
  func agreeWithServer() -> WallTime {
    wallError = .zero
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    wallError = now - clock.wall()
    return now.later(by: .zero - lock.withLock { state.boot })
  }

  /// Turns the clocks by the time that a test has taken since ``agreeWithServer()``: on a slow machine the server's clock moves on.
  /// - Parameter booted: The result of that call.
  func catchUp(_ booted: WallTime) {
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    lock.withLock { state.boot = now - booted }
  }

  var sleeps: [Duration] { lock.withLock { state.sleeps } }

  /// Whether a sleeping caller sleeps until it is cancelled, instead of turning the clock.
  var holdsSleepers: Bool {
    get { lock.withLock { state.holdsSleepers } }
    set { lock.withLock { state.holdsSleepers = newValue } }
  }

  var clock: SenderClock { clock(bootID: lock.withLock { state.bootID }) }

  /// - Parameter bootID: Empty for a boot of which the store keeps nothing.
  func clock(bootID: String) -> SenderClock {
    SenderClock(
      wall: { .rigStart.later(by: .seconds(6200) + self.lock.withLock { self.state.boot + self.state.wallError }) },
      boot: { self.lock.withLock { self.state.boot } }, bootID: bootID,
      sleep: { duration in
        try Task.checkCancellation()
        if self.holdsSleepers, duration > .zero {
          self.lock.withLock { self.state.sleeps.append(duration) }
          try await Task.sleep(for: .seconds(60))
        } else {
          self.lock.withLock {
            self.state.sleeps.append(duration)
            self.state.boot += duration
          }
        }
      },
      random: { 0.5 })
  }
}

extension WallTime {
  /// When the rig's drives begin, unless a test sets another time. The server has this host's clock, which contradicts the rig's whenever the
  /// tests run: it is three days ahead. Beyond 24 days the server could not hold the offset of a fence.
  static let rigStart: WallTime = {
    let now = Int64(Date().timeIntervalSince1970)
    return WallTime(microseconds: (now - now % 3600) * 1_000_000).later(by: .seconds(-3 * 86_400 - 7200))
  }()
}

extension DriveStore {
  func end(drive: Int64, at time: WallTime) async throws {
    try await database.write { db in
      try db.execute(sql: "UPDATE drive SET ended_at = ? WHERE id = ?", arguments: [time.microseconds, drive])
    }
  }

  /// Changes rows as a flipped bit on the disk does: no trigger fires.
  func damage(_ sql: String) async throws {
    try await database.write { try $0.damage(sql) }
  }

  /// Damage: deletes the sessions of `drive`, but not their fences.
  func loseSessions(of drive: Int64) async throws {
    try await database.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF")
      try db.execute(sql: "DELETE FROM session WHERE drive_id = ?", arguments: [drive])
      try db.execute(sql: "PRAGMA foreign_keys = ON")
    }
  }
}
