import Coverage
import Export
import Foundation
import Service
import Settings
import TestSupport
import Testing

@testable import Store
@testable import coverage_probe

/// `show`: from a fence to the lines of the drive log that made it (docs/export.md, "From a figure to its evidence").
struct ShowingTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration
  private let name = "2026-11-20T10-00-00.000Z.jsonl"

  init() throws {
    folder = try TemporaryFolder()
    configuration = .sample(in: folder)
  }

  private var log: String { configuration.stateDirectory + "/drives/" + name }

  /// A straight road of 100 m: a position and a ping a second, a late answer, and the stop.
  private static let lines: [String] = {
    var lines = [
      #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"#,
      #"{"at":0,"equipment":\#(ModemEquipment.sample.json.text)}"#,
    ]
    for second in 0...100 {
      lines.append(
        #"{"at":\#(second),"fix":{"latitude":\#(48.2 + Double(second) / 111_195),"longitude":16.37,"accuracy":5}}"#)
      lines.append(#"{"at":\#(second).5,"ping":{"rtt_ms":\#(20 + second % 7)}}"#)
    }
    return lines + [#"{"at":101,"stop":{}}"#]
  }()

  /// Stores the fences that the log gives, as a drive does.
  /// - Parameter change: Changes what is stored.
  /// - Returns: The fences.
  @discardableResult
  private func record(_ change: (Fence) -> Fence = { $0 }) throws -> [Fence] {
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    try (Self.lines.joined(separator: "\n") + "\n").write(toFile: log, atomically: true, encoding: .utf8)
    let drive = try RecordedDrive(path: log)
    var engine = Engine(parameters: drive.header.engineParameters, path: drive.header.initialPath)
    for event in drive.events { _ = engine.handle(event) }
    let fences = engine.fences.map(change)
    var recorder = try DriveRecorder(store, started: drive.header.started, log: log)
    #expect(engine.sessions.map(\.equipment) == [.sample])
    try recorder.save(sessions: engine.sessions, fences: fences, seen: engine.now)
    try recorder.end(at: engine.now, reason: .user)
    return fences
  }

  private func show(_ name: String) throws -> Showing {
    try Showing(configuration: configuration, fence: try #require(FenceName(name)))
  }

  private func text(_ showing: Showing, isComplete: Bool = false) throws -> [String] {
    var lines: [String] = []
    try showing.write(isComplete: isComplete) { lines += $0.split(separator: "\n").map(String.init) }
    return lines
  }

  private func json(_ showing: Showing) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(showing.json.utf8)) as? NSDictionary)
  }

  /// The number of the line with the position of this second.
  private func line(ofFixAt time: DriveTime) -> Int { 3 + 2 * Int(time.microseconds / 1_000_000) }

  @Test(
    "when a fence is shown, then the lines from its first position to the one that ended it are found, and the log confirms it"
  )
  func confirmed() throws {
    let fences = try record()
    #expect(fences.count > 3)
    for (index, fence) in fences.enumerated() {
      let showing = try show("\(index + 1)")
      #expect(showing.doubt == nil)
      let read = try json(showing)
      let first = line(ofFixAt: fence.entered)
      let exited = try #require(fence.exited)
      let last = index == fences.count - 1 ? Self.lines.count : line(ofFixAt: exited)
      #expect((read["lines"] as? NSDictionary)?["first"] as? Int == first)
      #expect((read["lines"] as? NSDictionary)?["last"] as? Int == last)
      #expect(read["is_confirmed"] as? Bool == true)
      #expect((read["fence"] as? NSDictionary)?["pings"] as? Int == fence.pings)
      let lines = try text(showing)
      #expect(lines.contains("  \(first): \(Self.lines[first - 1])"))
      #expect(lines.contains("  \(last): \(Self.lines[last - 1])"))
      #expect(lines.last == "the drive log gives the same fence again")
      #expect(lines.contains("modem: \(ModemEquipment.sample.words)"))
      let equipment = (read["session"] as? NSDictionary)?["equipment"] as? NSDictionary
      #expect(equipment?["apn"] as? String == "internet" && equipment?["sim"] as? String == "0123456789abcdef")
    }
  }

  @Test(
    "when all lines are wanted, then those in the time of the fence are printed, also a verdict after its end, and no others"
  )
  func all() throws {
    let fence = try record()[1]
    let (first, last) = (line(ofFixAt: fence.entered), line(ofFixAt: try #require(fence.exited)))
    let lines = try text(show("2"), isComplete: true).filter { $0.contains("{\"at\":") }
    #expect(lines == (first...last).map { "  \($0): \(Self.lines[$0 - 1])" })
    var late = Self.lines
    late.swapAt(last - 2, last - 1)
    try (late.joined(separator: "\n") + "\n").write(toFile: log, atomically: true, encoding: .utf8)
    #expect(
      try json(show("2"))["lines"] as? NSDictionary == ["first": first, "last": last - 1, "all": Array(first...last)])
    #expect(try show("2").doubt == nil)
  }

  @Test("when a fence is named by its session and number, then it is the same as by its id")
  func named() throws {
    try record()
    #expect(try show("1:2").json == show("3").json)
    #expect(FenceName("1:2") == .number(session: 1, number: 2) && FenceName("12") == .id(12))
    for text in ["", ":", "1:", ":1", "1:2:3", "-1", "x", "1.5", "99999999999999999999"] {
      #expect(FenceName(text) == nil)
    }
  }

  @Test("when the log was written with its digest, then sha256sum of its bytes gives the digest")
  func digest() throws {
    try record()
    let log = try #require(json(show("1"))["log"] as? NSDictionary)
    #expect(log["name"] as? String == name)
    #expect(log["sha256"] as? String == (try FileDigest(path: self.log)).sha256)
    #expect(log["bytes"] as? Int == Self.lines.joined(separator: "\n").utf8.count + 1)
  }

  @Test("when the store has another value than the log gives, then the difference is named")
  func different() throws {
    try record { fence in
      guard fence.number == 1 else { return fence }
      return Fence(
        number: fence.number, session: fence.session, entered: fence.entered, exited: fence.exited, fix: fence.fix,
        centre: fence.centre, radius: fence.radius, technology: fence.technology, pings: fence.pings + 1,
        pingsAnswered: fence.pingsAnswered, rttSumNanoseconds: fence.rttSumNanoseconds, figures: fence.figures,
        radio: fence.radio, isSubmittable: fence.isSubmittable)
    }
    #expect(try show("1").doubt == nil)
    let doubt = try #require(try show("2").doubt)
    #expect(
      doubt.hasPrefix("the drive log gives another fence: pings is ")
        && doubt.contains("pings_lost is 1 in the store, 0 by the log"))
    #expect(try json(show("2"))["is_confirmed"] as? Bool == false)
  }

  @Test("when a line of the log was changed, then the log no longer gives the fence, and others stay confirmed")
  func changedLog() throws {
    let fences = try record()
    let changed = Self.lines.map { $0.hasPrefix(#"{"at":1.5,"ping""#) ? #"{"at":1.5,"ping":{"rtt_ms":999}}"# : $0 }
    try (changed.joined(separator: "\n") + "\n").write(toFile: log, atomically: true, encoding: .utf8)
    #expect(try show("1").doubt?.contains("max_ping_ms is 26.0 in the store, 999.0 by the log") == true)
    #expect(try show("\(fences.count)").doubt == nil)
  }

  @Test("when the log is missing, then the row is shown, and one line says why nothing confirms it")
  func missing() throws {
    try record()
    try FileManager.default.removeItem(atPath: log)
    let showing = try show("1")
    #expect(showing.doubt == "the drive log \(name) is missing: nothing confirms the fence")
    let lines = try text(showing)
    #expect(lines.first == "fence 1, number 0 of drive 1" && lines.contains { $0.hasPrefix("session 1: pending, ") })
    let read = try json(showing)
    #expect((read["log"] as? NSDictionary) == ["name": name] && read["lines"] == nil)
  }

  @Test("when the log ends within the fence, as after a kill, then the line says so, and all lines go to its end")
  func cutLog() throws {
    let fence = try record()[1]
    let kept = Array(Self.lines.prefix(line(ofFixAt: fence.entered) + 3))
    try (kept.joined(separator: "\n") + "\n").write(toFile: log, atomically: true, encoding: .utf8)
    let showing = try show("2")
    #expect(
      showing.doubt?.hasPrefix("the drive log ends within the fence, and gives another fence: exited_at is ") == true)
    let lines = try text(showing, isComplete: true)
    #expect(lines.filter { $0.contains("{\"at\":") }.count == 4)
    #expect(lines.contains("the drive log ends within the fence"))
    let first = line(ofFixAt: fence.entered)
    #expect((try json(showing)["lines"] as? NSDictionary) == ["first": first, "all": Array(first...first + 3)])
  }

  @Test("when the log belongs to another drive, then it gives no such fence")
  func otherLog() throws {
    try record()
    let other = [Self.lines[0], #"{"at":1,"fix":{"latitude":10,"longitude":10,"accuracy":5}}"#]
    try (other.joined(separator: "\n") + "\n").write(toFile: log, atomically: true, encoding: .utf8)
    #expect(try show("1").doubt == "the drive log gives no fence that begins there and then")
    try "no log\n".write(toFile: log, atomically: true, encoding: .utf8)
    #expect(try show("1").doubt == "not a drive log: the first line must be an object with \"drive\":1")
  }

  @Test("when there is no such fence, then one line says so")
  func unknown() throws {
    try record()
    #expect(throws: CommandFailure("there is no fence 99; exports have the ids of fences")) { try show("99") }
    let error = #expect(throws: CommandFailure.self) { try show("1:99") }
    #expect(error?.description == "session 1 has no fence with the number 99")
  }
}
