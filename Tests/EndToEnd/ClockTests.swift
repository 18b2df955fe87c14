import Coverage
import Foundation
import Store
import TestSupport
import Testing

/// Drives on a device without a clock battery.
@Suite(.serialized)
struct ClockTests {
  @Test(
    "when the clock begins at 1970 and is set twice in mid-drive, then every fence has its true time at the server",
    .enabled(if: SettableClock.isPossible, "needs a C compiler"))
  func setInMidDrive() async throws {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "3", track])
    let field = try await Field(gpsdPort: gps.port, keeping: [gps.program])
    let clock = try await SettableClock.library(in: field.folder)
    func setClock(_ seconds: Int) throws { _ = try field.folder.write("\(seconds)", to: "shift") }
    func fences(_ count: Int, _ record: RunningProgram) async throws {
      _ = try await eventually("\(count) fences") {
        try await field.sessions().first?["fences"] as? Int ?? 0 >= count ? () : nil
      }
    }

    let started = Date.now
    try setClock(100 - Int(started.timeIntervalSince1970))
    let record = try RunningProgram.product(
      "coverage-probe", ["record", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "CLOCK_SHIFT": field.folder.file("shift")])
    try await fences(3, record)
    #expect(record.standardError.contains("! the clock is not set, not measuring"))
    #expect(try await field.server.requests(to: "coverageRequest").isEmpty, "no test is requested with a wrong time")
    try setClock(-7200)
    _ = try await eventually("a test") { record.standardError.contains("pinging 127.0.0.1") ? () : nil }
    let known = try await field.sessions().first?["fences"] as? Int ?? 0
    try await fences(known + 3, record)
    try setClock(0)
    _ = try await eventually("the clock is right") {
      Self.saysTwoHours(record) ? () : nil
    }
    try await field.waitForPings()
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")

    let received = try await field.server.fences()
    #expect(received.count >= 3)
    for test in try await field.server.tests() {
      for fence in test["fences"] as? [[String: Any]] ?? [] {
        let time = try #require(fence["fence_time"] as? Double) / 1000
        #expect(time > started.timeIntervalSince1970 - 1 && time < Date.now.timeIntervalSince1970)
      }
    }
    let exported = try await field.run("export", ["--format", "jsonl"]).lines
    let replayed = try await field.replayed()
    let measured = replayed.filter { $0["submittable"] as? Bool == true }
    #expect(measured.count < replayed.count, "without a trusted clock, nothing was measured")
    #expect(exported.compactMap { $0["offset_ms"] as? Int } == measured.compactMap { $0["offset_ms"] as? Int })
    #expect(exported.compactMap { $0["offset_ms"] as? Int } == received.compactMap { $0.integer("offset_ms") })
  }

  @Test(
    "when the clock is set while the server makes the test, then every fence still has its true time",
    .enabled(if: SettableClock.isPossible, "needs a C compiler"))
  func setDuringRequest() async throws {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "3", track])
    let field = try await Field(gpsdPort: gps.port, keeping: [gps.program])
    let clock = try await SettableClock.library(in: field.folder)
    try await field.server.setFault("slow:4", on: "coverageRequest", count: 1)
    let started = Date.now.timeIntervalSince1970
    _ = try field.folder.write("-7200", to: "shift")
    let record = try RunningProgram.product(
      "coverage-probe", ["record", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "CLOCK_SHIFT": field.folder.file("shift")])
    _ = try await eventually("the server has made the test") { try await field.server.tests().isEmpty ? nil : () }
    _ = try field.folder.write("0", to: "shift")
    _ = try await eventually("the clock is set before the answer") {
      Self.saysTwoHours(record) ? () : nil
    }
    let beforePings = record.standardError.components(separatedBy: "pinging 127.0.0.1")[0]
    #expect(beforePings.contains("they move by"), "\(record.standardError)")
    // Fences before the answer have no pings and are not measured.
    _ = try await eventually("fences after the test") {
      try await field.replayed().count { $0["submittable"] as? Bool == true } >= 4 ? () : nil
    }
    try await field.waitForPings()
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    let times = try await field.server.tests().flatMap { $0["fences"] as? [[String: Any]] ?? [] }
      .compactMap { $0["fence_time"] as? Double }.map { $0 / 1000 }
    #expect(times.count >= 3)
    #expect(times.allSatisfy { $0 > started - 1 && $0 < Date.now.timeIntervalSince1970 }, "\(times)")
  }

  // MARK: Clocks that contradict each other

  /// A field whose receiver reports the true time, in real time.
  private func fieldWithTrueTime(_ settings: String = "") async throws -> Field {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", track])
    return try await Field(gpsdPort: gps.port, keeping: [gps.program], settings: settings)
  }

  /// The server's times of all fences, in seconds.
  private func timesAtServer(_ field: Field) async throws -> [Double] {
    try await field.server.tests().flatMap { $0["fences"] as? [[String: Any]] ?? [] }
      .compactMap { $0["fence_time"] as? Double }.map { $0 / 1000 }
  }

  @Test(
    "when the clock steps in mid-drive and receiver and server contradict it, then every fence has its true time at the server",
    .enabled(if: SettableClock.isPossible, "needs a C compiler"), arguments: [3600, 864_000, 353_000_000])
  func contradictedStep(_ step: Int) async throws {
    // The player's time counts from its start: start the drive without delay.
    let tools = try TemporaryFolder()
    let clock = try await SettableClock.library(in: tools)
    let field = try await fieldWithTrueTime()
    _ = try field.folder.write("0", to: "shift")
    let started = Date.now.timeIntervalSince1970
    let record = try RunningProgram.product(
      "coverage-probe", ["record", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "CLOCK_SHIFT": field.folder.file("shift")])
    func fences(_ count: Int) async throws {
      _ = try await eventually("\(count) fences") {
        try await field.sessions().first?["fences"] as? Int ?? 0 >= count ? () : nil
      }
    }
    try await fences(2)
    _ = try field.folder.write("\(step)", to: "shift")
    _ = try await eventually("the step is noticed") {
      record.standardError.contains("the host's clock is off by") ? () : nil
    }
    try await fences(5)
    try await field.waitForPings()
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")

    let times = try await timesAtServer(field)
    #expect(times.count >= 5)
    #expect(times.allSatisfy { $0 > started - 1 && $0 < Date.now.timeIntervalSince1970 + 1 }, "\(times)")
    let log = try String(contentsOfFile: try field.driveLog(), encoding: .utf8)
    #expect(log.contains(#""clock":{"ruled_by":"host","because":"no other clock is known""#))
    // Less than the step, because the receiver's time arrives late, on a busy host by seconds.
    let ahead = log.matches(of: /"contradicting":\["host"\],"host_ahead":(\d+)/).compactMap { Int($0.1) }
    #expect(ahead.contains { (step - 3...step).contains($0) }, "\(ahead)")
    #expect(!log.contains("clock_set"))
    let exported = try await field.run("export", ["--format", "jsonl"]).lines
    let replayed = try await field.replayed()
    #expect(exported.compactMap { $0["offset_ms"] as? Int } == replayed.compactMap { $0["offset_ms"] as? Int })
  }

  @Test(
    "when the clock is wrong at the next start of the same boot, then waiting fences have their true times at the server",
    .enabled(if: SettableClock.isPossible, "needs a C compiler"))
  func wrongAtNextStart() async throws {
    // The player's time counts from its start: start the drive without delay.
    let tools = try TemporaryFolder()
    let clock = try await SettableClock.library(in: tools)
    let field = try await fieldWithTrueTime()
    let started = Date.now.timeIntervalSince1970
    let recorded = try await field.run("record", ["--no-submit", "--duration", "12s"])
    #expect(recorded.status == 0, "\(recorded.errors)")
    let ended = Date.now.timeIntervalSince1970
    _ = try field.folder.write("864000", to: "shift")
    let submit = try RunningProgram.product(
      "coverage-probe", ["submit", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "CLOCK_SHIFT": field.folder.file("shift")])
    #expect(try await submit.exitStatus() == 0, "\(submit.standardError)")
    let times = try await timesAtServer(field)
    #expect(!times.isEmpty)
    #expect(times.allSatisfy { $0 > started - 1 && $0 < ended + 1 }, "\(times)")
  }

  @Test(
    "when the clock begins at 1970 and only the receiver has the time, then the drive is measured and has its true times",
    .enabled(if: SettableClock.isPossible, "needs a C compiler"))
  func onlyTheReceiver() async throws {
    // The player's time counts from its start: start the drive without delay.
    let tools = try TemporaryFolder()
    let clock = try await SettableClock.library(in: tools)
    let field = try await fieldWithTrueTime()
    let started = Date.now.timeIntervalSince1970
    _ = try field.folder.write("\(100 - Int(started))", to: "shift")
    let record = try RunningProgram.product(
      "coverage-probe", ["record", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "CLOCK_SHIFT": field.folder.file("shift")])
    _ = try await eventually("a test") {
      record.standardError.contains("pinging 127.0.0.1") ? () : nil
    }
    _ = try await eventually("fences") {
      try await field.sessions().first?["fences"] as? Int ?? 0 >= 4 ? () : nil
    }
    try await field.waitForPings()
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    let times = try await timesAtServer(field)
    #expect(times.count >= 2)
    #expect(times.allSatisfy { $0 > started - 2 && $0 < Date.now.timeIntervalSince1970 + 1 }, "\(times)")
  }

  @Test(
    "when another boot's clock is 40 days ahead, then waiting fences are sent, not deleted",
    .enabled(if: SettableClock.isPossible, "needs a C compiler"))
  func daysAhead() async throws {
    // The player's time counts from its start: start the drive without delay.
    let tools = try TemporaryFolder()
    let clock = try await SettableClock.library(in: tools)
    let field = try await fieldWithTrueTime()
    let started = WallTime(microseconds: Int64((Date.now.timeIntervalSince1970 - 3600) * 1e6))
    try Self.record(started, in: field.folder.file("state"))
    _ = try field.folder.write("3456000", to: "shift")
    let submit = try RunningProgram.product(
      "coverage-probe", ["submit", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "CLOCK_SHIFT": field.folder.file("shift")])
    #expect(try await submit.exitStatus() == 0, "\(submit.standardError)")
    let times = try await timesAtServer(field)
    #expect(times.count == 5 && times.allSatisfy { abs($0 - Double(started.microseconds) / 1e6) < 100 }, "\(times)")
  }

  private static func record(_ started: WallTime, in state: String) throws {
    let store = try DriveStore(directory: StateDirectory(path: state), purpose: "a test")
    var recorder = try DriveRecorder(store, started: started, boot: ("another boot", .seconds(40)), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(600))],
      fences: (0..<5).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(600))
    try recorder.end(at: .seconds(600), reason: .user)
  }

  /// Whether the log says that the clock was set by two hours, or a little less if the process waited between reading its two clocks.
  private static func saysTwoHours(_ record: RunningProgram) -> Bool {
    ["7200.0", "7199.9"].contains { record.standardError.contains("they move by \($0)") }
  }
}
