import Coverage
import Export
import Foundation
import Settings
import TestSupport
import Testing

@testable import Store
@testable import coverage_probe

/// `report --verify`: the figures of the store against those of the drive logs (docs/report.md, Verification).
struct ReportVerificationTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration

  init() throws {
    folder = try TemporaryFolder()
    configuration = .sample(in: folder)
  }

  /// The lines of a straight road of 200 m: a position and a ping a second, some of them lost.
  private func lines(hour: Int) -> [String] {
    var lines = [#"{"drive":1,"started":"2026-11-20T1\#(hour):00:00.000Z","initial_path":"cellular"}"#]
    for second in 0...200 {
      lines.append(
        #"{"at":\#(second),"fix":{"latitude":\#(48.2 + Double(second) / 111_195),"longitude":16.37,"accuracy":5}}"#)
      let outcome = second % 11 == 4 ? #""error":"timeout""# : #""rtt_ms":\#(20 + second % 7)"#
      lines.append(#"{"at":\#(second).5,"ping":{\#(outcome)}}"#)
    }
    return lines + [#"{"at":201,"stop":{}}"#]
  }

  private func log(_ hour: Int) -> String { configuration.stateDirectory + "/drives/\(hour).jsonl" }

  /// Stores what the logs give.
  /// - Parameter change: Changes what is stored.
  private func record(hours: Range<Int> = 0..<1, _ change: (Fence) -> Fence? = { $0 }) throws {
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    for hour in hours {
      try (lines(hour: hour).joined(separator: "\n") + "\n").write(toFile: log(hour), atomically: true, encoding: .utf8)
      let drive = try RecordedDrive(path: log(hour))
      var engine = Engine(parameters: drive.header.engineParameters, path: drive.header.initialPath)
      for event in drive.events { _ = engine.handle(event) }
      var recorder = try DriveRecorder(store, started: drive.header.started, log: log(hour))
      try recorder.save(sessions: engine.sessions, fences: drive.replayedFences().compactMap(change), seen: engine.now)
      try recorder.end(at: engine.now, reason: .user)
    }
  }

  private func verify(sessions: Set<Int64> = [], options: Reporting.Options = .init()) throws -> ReportVerification {
    try ReportVerification(
      Reporting(
        configuration: configuration,
        choices: [.init(title: "S", state: .all, sessions: sessions, filter: FenceFilter())], options: options))
  }

  @Test("when the store has what the logs give, then all figures agree, also those by area")
  func agreement() throws {
    try record(hours: 0..<2)
    var options = Reporting.Options()
    options.areas = try AreaList(
      geoJSON: Data(
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"Polygon","coordinates":[[[16,48],[17,48],[17,48.201],[16,48.201]]]}}"#
          .utf8), path: "a")
    let found = try verify(options: options)
    #expect(found.agrees && found.lines.count == 1, "\(found.lines)")
    #expect(found.lines.last?.contains("of 2 drives computed again from the drive logs: all agree") == true)
  }

  @Test("when a stored fence has one ping more, then the fence, and each figure that it changes, has a line")
  func difference() throws {
    try record { fence in
      guard fence.number == 2 else { return fence }
      return Fence(
        number: fence.number, session: fence.session, entered: fence.entered, exited: fence.exited, fix: fence.fix,
        centre: fence.centre, radius: fence.radius, technology: fence.technology, pings: fence.pings + 1,
        pingsAnswered: fence.pingsAnswered, rttSumNanoseconds: fence.rttSumNanoseconds, figures: fence.figures,
        radio: fence.radio, isSubmittable: fence.isSubmittable)
    }
    let found = try verify()
    #expect(!found.agrees)
    #expect(found.lines.contains { $0.hasPrefix("fence 3 of drive 1: pings is ") })
    #expect(
      found.lines.contains { $0.hasPrefix("loss.pings: ") }
        && found.lines.contains { $0.hasPrefix("groups.by_link[0].failed: ") })
  }

  @Test(
    "when a fence is missing in the store, then the drive has a line; with a selected session, nothing can be said of it"
  )
  func missingFence() throws {
    try record { $0.number == 2 ? nil : $0 }
    let found = try verify()
    #expect(!found.agrees && found.lines.contains("drive 1: the drive log gives 1 fence that the store does not have"))
  }

  @Test("when a log is missing, then it is named with the number of its fences, and the other drives are compared")
  func missingLog() throws {
    try record(hours: 0..<2)
    try FileManager.default.removeItem(atPath: log(0))
    let found = try verify()
    #expect(!found.agrees && found.lines.count == 2)
    #expect(found.lines[0].hasPrefix("drive 1: the drive log 0.jsonl is missing: "))
    #expect(found.lines[1].contains("of 1 drive computed again from the drive logs: all agree; 1 drive without a log"))
    #expect(try verify(sessions: [2]).agrees)
  }

  @Test("when a position is changed in a log, then its fence has no counterpart")
  func changedLog() throws {
    try record()
    var text = try String(contentsOfFile: log(0), encoding: .utf8)
    text = text.replacing(#""latitude":48.2,"#, with: #""latitude":48.2001,"#)
    try text.write(toFile: log(0), atomically: true, encoding: .utf8)
    let found = try verify()
    #expect(!found.agrees)
    #expect(found.lines.contains("fence 1 of drive 1: the drive log gives no fence that begins there and then"))
  }

  @Test("when the store is empty, then nothing is confirmed")
  func empty() throws {
    try record(hours: 0..<0)
    #expect(try !verify().agrees)
  }

  @Test("when a verification is to write a report, then this is wrong usage")
  func usage() throws {
    #expect(throws: (any Error).self) { try ReportCommand.parse(["--verify", "-o", "x.html"]) }
    #expect(throws: (any Error).self) { try ReportCommand.parse(["--verify", "--json"]) }
    #expect(try ReportCommand.parse(["--verify", "--areas", "a.geojson"]).areas == "a.geojson")
    #expect(throws: (any Error).self) {
      try ReportCommand.parse(["--with-from", "2026-11-02", "--with-to", "2026-11-01"])
    }
  }
}
