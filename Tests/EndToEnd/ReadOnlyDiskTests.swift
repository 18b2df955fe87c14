import Foundation
import TestSupport
import Testing

/// A card that turns read-only in mid-drive, as ext4 does after an error, or hangs.
@Suite(
  .serialized, .enabled(if: Surroundings.mayMount && SmallDisk.isAvailable, "needs CAP_SYS_ADMIN and a loop device"))
struct ReadOnlyDiskTests {
  private let disk: SmallDisk
  private let field: Field

  init() async throws {
    disk = try SmallDisk()
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "3", track])
    field = try await Field(
      gpsdPort: gps.port, keeping: [gps.program], settings: "submission: { spread: 0s }",
      stateDirectory: disk.path + "/state")
  }

  private func stored() async throws -> Int {
    try await field.sessions().compactMap { $0["fences"] as? Int }.reduce(0, +)
  }

  private static let refusal = "cannot write to the store: its disk is read-only"

  /// Waits until some fences are stored, and then some are in memory.
  private func breakInMidDrive(_ program: RunningProgram) async throws {
    _ = try await eventually("4 fences are stored") { try await stored() >= 4 ? () : nil }
    try await field.waitForPings()
    try disk.abort()
    _ = try await eventually("the refusal") { program.standardError.contains(Self.refusal) ? () : nil }
    let refused = ContinuousClock.now
    _ = try await eventually("more fences") { ContinuousClock.now - refused > .seconds(8) ? () : nil }
  }

  private func entries() async throws -> [Int] {
    try await field.server.fences().compactMap { $0.integer("timestamp_microseconds") }
  }

  @Test(
    "when the card turns read-only, then record submits the drive from memory, and no later pass sends a fence again")
  func record() async throws {
    let drive = try field.start("record")
    try await breakInMidDrive(drive)
    let onCard = try await stored()
    drive.signal(SIGTERM)
    #expect(try await drive.exitStatus() == 0, "\(drive.standardError)")
    let fromMemory = try await entries()
    #expect(fromMemory.count >= onCard + 2 && Set(fromMemory).count == fromMemory.count)
    #expect(drive.standardError.ranges(of: Self.refusal).count == 1, "\(drive.standardError)")
    #expect(drive.standardError.ranges(of: "its lines wait in memory").count == 1, "\(drive.standardError)")
    #expect(drive.standardOutput.contains("submitted \(fromMemory.count) fences"), "\(drive.standardOutput)")
    try disk.mountAgain()
    _ = try await field.run("submit")
    _ = try await field.run("submit", ["--quarantined"])
    #expect(try await entries().sorted() == fromMemory.sorted())
  }

  @Test("when the card hangs for seconds, then fences begin meanwhile as without it")
  func hang() async throws {
    let drive = try field.start("record", ["--no-submit"])
    _ = try await eventually("4 fences are stored") { try await stored() >= 4 ? () : nil }
    try disk.freeze()
    let (frozen, frozenAt) = (ContinuousClock.now, Date.now)
    _ = try await eventually("7 s") { ContinuousClock.now - frozen > .seconds(7) ? () : nil }
    let thawedAt = Date.now
    try disk.thaw()
    _ = try await eventually("the disk goes on") { drive.standardError.contains("the disk took") ? () : nil }
    drive.signal(SIGTERM)
    #expect(try await drive.exitStatus() == 0, "\(drive.standardError)")
    let fences = try await field.run("export", ["--state", "all", "--format", "jsonl"]).lines
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let times = try fences.map { try format.parse(try #require($0["entered_at"] as? String)) }
    let meanwhile = times.filter { $0 > frozenAt + 1 && $0 < thawedAt - 1 }
    #expect(meanwhile.count >= 3 && Set(meanwhile).count == meanwhile.count, "\(times)")
  }

  @Test("when the card turns read-only, then the service submits from memory, and start, status and journal agree")
  func service() async throws {
    let service = try field.start("agent")
    try await breakInMidDrive(service)
    _ = try await field.run("stop")
    _ = try await eventually("the fences are submitted from memory") {
      service.standardError.contains("submitted from memory and wait for the disk: store: its disk is read-only")
        ? () : nil
    }
    let fromMemory = try await entries()
    #expect(fromMemory.count >= 2 && Set(fromMemory).count == fromMemory.count)
    let start = try await field.run("start").output
    #expect(start.hasPrefix("start: not recording yet (started by command): "), "\(start)")
    #expect(start.contains("submitted from memory and wait for the disk: store: its disk is read-only"), "\(start)")
    let status = try await field.run("status").output
    #expect(status.hasPrefix("idle: ") && status.contains("fences were submitted from memory"), "\(status)")
    let lines = service.standardError.split(separator: "\n").map { $0.drop { $0 != " " } }
    let most = Dictionary(grouping: lines) { $0 }.values.map(\.count).max() ?? 0
    #expect(most <= 3, "no line comes again and again: \(service.standardError)")
    service.signal(SIGTERM)
    #expect(try await service.exitStatus() == 0, "\(service.standardError)")
  }
}
