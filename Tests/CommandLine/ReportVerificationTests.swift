import ArgumentParser
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

  /// The lines of a straight road of 200 m: a position and a ping a second, some of them lost; Wi-Fi from 100 s to 120 s; two tests.
  private func lines(hour: Int) -> [String] {
    var lines = [#"{"drive":1,"started":"2026-11-20T1\#(hour):00:00.000Z","initial_path":"cellular"}"#]
    for second in 0...200 {
      if [0, 60].contains(second) {
        lines.append(#"{"at":\#(second),"session":{"test_uuid":"T\#(hour)-\#(second)"}}"#)
      }
      if second == 1 {
        lines.append(#"{"at":1,"radio":"4G/LTE"}"#)
        lines.append(#"{"at":1,"modem":{"signal":{"rsrp":-91},"cell":{"kind":"lte","channel":1300}}}"#)
      }
      if second == 100 { lines.append(#"{"at":100,"path":"wifi"}"#) }
      if second == 120 { lines.append(#"{"at":120,"path":"cellular"}"#) }
      lines.append(
        #"{"at":\#(second),"fix":{"latitude":\#(48.2 + Double(second) / 111_195),"longitude":16.37,"accuracy":5}}"#)
      let outcome = second % 11 == 4 ? #""error":"timeout""# : #""rtt_ms":\#(20 + second % 7)"#
      lines.append(#"{"at":\#(second).5,"ping":{\#(outcome)}}"#)
    }
    return lines + [#"{"at":201,"stop":{}}"#]
  }

  private func log(_ hour: Int) -> String { configuration.stateDirectory + "/drives/\(hour).jsonl" }

  /// Stores what the logs give.
  /// - Parameters:
  ///   - ends: Whether the drives end.
  ///   - shift: How much later the stored drives began, in microseconds.
  ///   - deleted: The hour of a drive whose sessions and fences are deleted.
  ///   - change: Changes what is stored, by the hour.
  /// - Returns: The store, whose lock is held while it exists.
  @discardableResult
  private func record(
    hours: Range<Int> = 0..<1, ends: Bool = true, shift: Int64 = 0, deleted: Int? = nil,
    _ change: (Int, Fence) -> Fence? = { $1 }
  ) throws -> DriveStore {
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    for hour in hours {
      try (lines(hour: hour).joined(separator: "\n") + "\n").write(toFile: log(hour), atomically: true, encoding: .utf8)
      let drive = try RecordedDrive(path: log(hour))
      var engine = Engine(parameters: drive.header.engineParameters, path: drive.header.initialPath)
      for event in drive.events { _ = engine.handle(event) }
      var recorder = try DriveRecorder(
        store, started: WallTime(microseconds: drive.header.started.microseconds + shift), log: log(hour))
      guard hour != deleted else {
        try recorder.end(at: engine.now, reason: .user)
        continue
      }
      try recorder.save(
        sessions: engine.sessions, fences: drive.replayedFences().compactMap { change(hour, $0) }, seen: engine.now)
      if ends { try recorder.end(at: engine.now, reason: .user) }
    }
    return store
  }

  /// The server accepts all fences of a session that wait, in one batch.
  private func send(_ session: Int64, in store: DriveStore) async throws {
    try await store.outbox.makeBatches(of: [session], limit: 400, at: .current)
    for batch in try await store.outbox.batches(of: [session], in: [.waiting]) {
      try await store.outbox.anchor(
        batch: batch.id, test: Batch.Test(uuid: "B\(batch.id)", anchor: .current), loopUUID: nil, client: "C")
      try await store.outbox.beginSending(batch: batch.id, fences: batch.fences, client: "C", at: .current)
      let accepted = try #require(try await store.outbox.markSubmitted(batch: batch.id, at: .current))
      try DriveLogWriter.note(accepted.fences, in: accepted.log)
    }
  }

  /// The quota deletes this many fences.
  private func drop(_ fences: Int, from store: DriveStore) async throws {
    let stored = try StoreReader(store).sessions().reduce(0) { $0 + $1.fences }
    let dropped = try await store.space.keepWithin(Quota(bytes: 1 << 40, fences: stored - fences), except: nil)
    #expect(dropped.fences == fences)
  }

  /// The result with its lines.
  private struct Found {
    var agrees = false
    var lines: [String] = []
  }

  /// Longer than any fence of these tests is old.
  private static let ages: Duration = .seconds(100 * 365 * 86_400)

  private func verify(
    sessions: Set<Int64>..., options: Reporting.Options = .init(), maxAge: Duration = ages, keep: Duration = ages
  ) throws -> Found {
    var (found, configuration) = (Found(), self.configuration)
    (configuration.submission.maxAge, configuration.submission.keep) = (maxAge, keep)
    let choices = (sessions.isEmpty ? [[]] : sessions).map {
      Reporting.Choice(title: "S", state: .all, sessions: $0, filter: FenceFilter())
    }
    found.agrees = try ReportVerification(
      Reporting(configuration: configuration, choices: choices, options: options)
    ) { found.lines.append($0) }.agrees
    return found
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

  @Test("when a stored fence has one ping more and another band, then it has a line, and each figure that it changes")
  func difference() throws {
    try record { _, fence in
      guard fence.number == 2 else { return fence }
      var radio = fence.radio
      radio?.cell?.channel = 6300
      return Fence(
        number: fence.number, session: fence.session, entered: fence.entered, exited: fence.exited, fix: fence.fix,
        centre: fence.centre, radius: fence.radius, technology: fence.technology, pings: fence.pings + 1,
        pingsAnswered: fence.pingsAnswered, rttSumNanoseconds: fence.rttSumNanoseconds, figures: fence.figures,
        radio: radio, isSubmittable: fence.isSubmittable)
    }
    let found = try verify()
    #expect(!found.agrees)
    #expect(found.lines.contains { $0.hasPrefix("fence 3 of drive 1: pings is ") })
    #expect(
      found.lines.contains { $0.hasPrefix("loss.pings: ") }
        && found.lines.contains { $0.hasPrefix("groups.by_link[0].failed: ") })
    #expect(found.lines.contains { $0.hasPrefix("bands.by_band[1].band: ") }, "\(found.lines)")
  }

  @Test(
    "when a fence is missing in the store, then the drive has a line; with a selected session, nothing can be said of it"
  )
  func missingFence() throws {
    try record { $1.number == 2 ? nil : $1 }
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
    #expect(try verify(sessions: [3, 4]).agrees)
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

  @Test("when a line of a log is damaged, then nothing agrees, because figures that only the log has may be wrong")
  func damagedLog() throws {
    try record()
    let text = try String(contentsOfFile: log(0), encoding: .utf8)
    try (text + "{\"at\":300,\n").write(toFile: log(0), atomically: true, encoding: .utf8)
    let found = try verify()
    #expect(!found.agrees && found.lines.count == 2, "\(found.lines)")
    #expect(found.lines.first?.hasPrefix("drive 1: 1 line of the drive log cannot be read, the first is line ") == true)
  }

  @Test("when no seal confirms a log that has seals, then nothing agrees, also if all fences are the same")
  func unsealedLog() throws {
    try record()
    let text = try String(contentsOfFile: log(0), encoding: .utf8)
    try text.replacing(#"{"drive":1,"#, with: #"{"drive":1,"sealed":true,"#)
      .write(toFile: log(0), atomically: true, encoding: .utf8)
    let found = try verify()
    #expect(!found.agrees && found.lines.count == 3, "\(found.lines)")
    #expect(found.lines.first == "drive 1: no seal confirms the first line of the drive log")
  }

  @Test("when the store has no fence of a drive, then the drive has a line")
  func allFencesMissing() throws {
    try record(hours: 0..<2) { $0 == 1 ? nil : $1 }
    let later = try verify()
    #expect(!later.agrees && later.lines.count == 2, "\(later.lines)")
    #expect(later.lines.first?.hasPrefix("drive 2: the drive log gives ") == true)
  }

  @Test(
    "when sessions are sent in any order, and the quota deletes what the server has, then this is no difference",
    arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
  func droppedForQuota(order: [Int]) async throws {
    let store = try record(hours: 0..<2)
    let sessions = try StoreReader(store).sessions()
    #expect(sessions.count == 4)
    for session in order {
      try await send(sessions[session].id, in: store)
      try await drop(2, from: store)
    }
    let some = try verify()
    #expect(some.agrees && some.lines.count == 1, "\(some.lines)")
    #expect(some.lines.last?.contains("; 8 fences deleted from the store") == true, "\(some.lines)")
    let sent = try StoreReader(store).sessions().reduce(0) { $0 + $1.submittedFences }
    try await drop(sent, from: store)
    let all = try verify()
    #expect(all.agrees && all.lines.count == 1, "\(all.lines)")
    #expect(all.lines.last?.contains("; \(8 + sent) fences deleted from the store") == true, "\(all.lines)")
    #expect(try StoreReader(store).sessions().count == 2, "those with fences on Wi-Fi")
  }

  @Test("when a sent fence is missing, and earlier ones of its batch are there, then this is a difference")
  func lostOfBatch() async throws {
    let store = try record()
    for session in try StoreReader(store).sessions() { try await send(session.id, in: store) }
    try await drop(1, from: store)
    #expect(try verify().agrees)
    try await store.database.write { try $0.execute(sql: "DELETE FROM fence WHERE number = 2") }
    let found = try verify()
    #expect(!found.agrees && found.lines.first == "drive 1: the drive log gives 1 fence that the store does not have")
    #expect(found.lines.last?.contains("; 1 fence deleted from the store") == true, "\(found.lines)")
  }

  @Test("when fences expire, then this is no difference; when they are lost before their age, it is one")
  func expired() async throws {
    let store = try record()
    let deleted = try await store.cleanup.run(
      Retention(maxAge: .seconds(1), keep: Self.ages), now: .current, agreement: .agrees, except: nil)
    #expect(deleted.expired > 0 && deleted.sentLongAgo == 0)
    let left = try StoreReader(store).sessions()
    #expect(left.map(\.submittableFences) == [0], "of one session, the fences on Wi-Fi are left")
    let (old, young) = (try verify(maxAge: .seconds(1)), try verify())
    #expect(
      old.agrees && old.lines.last?.contains("; \(deleted.expired) fences deleted from the store") == true,
      "\(old.lines)")
    #expect(
      young.lines.first == "drive 1: the drive log gives \(deleted.expired) fences that the store does not have",
      "\(young.lines)")
    #expect(!young.agrees)
  }

  @Test(
    "when fences on Wi-Fi are missing behind others, then this is a difference, unless submission.keep is over for them"
  )
  func deletedWiFi() throws {
    try record { $1.isSubmittable ? $1 : nil }
    #expect(try !verify().agrees)
    let found = try verify(keep: .seconds(1))
    #expect(found.agrees && found.lines.last?.contains("deleted from the store") == true, "\(found.lines)")
  }

  @Test("when a drive is deleted by age before an older one that could not be sent, then this is no difference")
  func deletedBefore() async throws {
    let store = try record(hours: 0..<2) { $1.isSubmittable ? $1 : nil }
    for session in try StoreReader(store).sessions() where session.drive == 2 { try await send(session.id, in: store) }
    _ = try await store.cleanup.run(
      Retention(maxAge: Self.ages, keep: .seconds(1)), now: .current.later(by: .seconds(10)), except: nil)
    #expect(try Set(StoreReader(store).sessions().map(\.drive)) == [1])
    let found = try verify(keep: .seconds(1))
    #expect(found.agrees && found.lines.count == 1, "\(found.lines)")
  }

  @Test("when a drive whose fences were not sent is gone, then this is a difference, until they are too old")
  func unsentGone() throws {
    try record(hours: 0..<2, deleted: 1)
    let found = try verify()
    #expect(!found.agrees && found.lines.count == 2, "\(found.lines)")
    #expect(found.lines.first?.hasPrefix("drive 2: the drive log gives ") == true)
    #expect(try verify(maxAge: .seconds(1), keep: .seconds(1)).agrees)
  }

  @Test("when a log has control characters, then no line of the result has any")
  func controlCharacters() throws {
    try record()
    let text = try String(contentsOfFile: log(0), encoding: .utf8)
    try text.replacing(#"{"drive":1,"#, with: #"{"drive":1,"link":"A\u001b[31m\u0007\u009bB\n","#)
      .write(toFile: log(0), atomically: true, encoding: .utf8)
    let found = try verify()
    #expect(!found.agrees && found.lines.contains { $0.contains("link is absent in the store") }, "\(found.lines)")
    let scalars = found.lines.flatMap(\.unicodeScalars)
    #expect(!scalars.contains { $0.properties.generalCategory == .control }, "\(found.lines)")
  }

  @Test("when the store has another start than the log, then the drive has a line; a part of a millisecond is none")
  func start() throws {
    try record(hours: 0..<1, shift: 900)
    #expect(try verify().agrees)
    try record(hours: 1..<2, shift: 3_600_000_000)
    let found = try verify()
    #expect(!found.agrees)
    #expect(
      found.lines.first
        == "drive 2: started_at is 2026-11-20T12:00:00.000Z in the store, 2026-11-20T11:00:00.000Z by the log",
      "\(found.lines)")
  }

  @Test("when a drive is being recorded, then it is left out")
  func running() throws {
    try record()
    let store = try record(hours: 1..<2, ends: false)
    let found = try withExtendedLifetime(store) { try verify() }
    #expect(found.agrees, "\(found.lines)")
    #expect(found.lines.first == "drive 2 is being recorded: it is left out")
    #expect(found.lines.last?.contains("all agree; 1 drive being recorded") == true)
  }

  @Test("when a selection is compared with another one, then the comparison is computed again too")
  func comparison() throws {
    try record(hours: 0..<2) { hour, fence in
      guard hour == 1, fence.number == 2 else { return fence }
      return Fence(
        number: fence.number, session: fence.session, entered: fence.entered, exited: fence.exited, fix: fence.fix,
        centre: fence.centre, radius: fence.radius, technology: fence.technology, pings: fence.pings,
        pingsAnswered: fence.pingsAnswered, rttSumNanoseconds: fence.rttSumNanoseconds + 9_000_000_000,
        figures: fence.figures, radio: fence.radio, isSubmittable: fence.isSubmittable)
    }
    let found = try verify(sessions: [1, 2], [3, 4])
    #expect(!found.agrees && found.lines.contains { $0.hasPrefix("comparison.") }, "\(found.lines)")
    #expect(
      found.lines.contains { $0.hasPrefix("selection 2, ") } && !found.lines.contains { $0.hasPrefix("selection 1") })
  }

  @Test("when the store is empty, then nothing is confirmed")
  func empty() throws {
    try record(hours: 0..<0)
    #expect(try !verify().agrees)
  }

  @Test(
    "when settings, store or areas cannot be read, then the exit status is 66; with all of them it is that of the result"
  )
  func notVerified() async throws {
    let (settings, areas) = (folder.file("probe.yaml"), folder.file("areas.geojson"))
    func status(_ more: String...) async throws -> Int32? {
      let command = try ReportCommand.parse(["--verify", "--config", settings] + more)
      do {
        try await command.run()
        return 0
      } catch let exit as ExitCode {
        return exit.rawValue
      }
    }
    #expect(try await status() == 66, "no settings")
    try "state-directory: \(configuration.stateDirectory)\nno-such-key: 1\n".write(
      toFile: settings, atomically: true, encoding: .utf8)
    #expect(try await status() == 66, "settings with a mistake")
    try "state-directory: \(configuration.stateDirectory)\n".write(
      toFile: settings, atomically: true, encoding: .utf8)
    try record()
    #expect(try await status() == 0)
    #expect(try await status("--areas", areas) == 66, "no file of areas")
    try "{".write(toFile: areas, atomically: true, encoding: .utf8)
    #expect(try await status("--areas", areas) == 66, "no GeoJSON")
    #expect(try await status("--session", "99") == 66, "no such session")
    try FileManager.default.removeItem(atPath: log(0))
    #expect(try await status() == 1, "a missing log is a result")
    try FileManager.default.removeItem(atPath: configuration.stateDirectory)
    #expect(try await status() == 66, "no store")
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
