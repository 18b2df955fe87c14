import TestSupport
import Testing

@testable import Coverage

/// Sessions and their anchors (docs/algorithm.md, 7).
@Suite struct SessionTests {
  var drive = DriveScript()

  private var testUUIDs: [String?] { drive.fences.map { drive.engine.sessions[$0.session].testUUID } }
  private var offsets: [Int64?] {
    drive.fences.map { fence in
      drive.engine.sessions[fence.session].anchor.map { (fence.entered - $0).inMilliseconds }
    }
  }

  @Test mutating func `when a drive starts, then it has one session, without a name and an anchor`() {
    #expect(drive.engine.sessions == [Session(number: 0, started: .start)])
  }

  @Test mutating func `when modem and SIM are known, then the session and those after it have them, and no fence ends`()
  {
    drive.fix(at: 1)
    let effects = drive.handle(Event(at: .seconds(2), .equipment(.sample)))
    #expect(effects == [.sessionChanged(drive.engine.sessions[0])])
    #expect(drive.engine.sessions[0].equipment == .sample)
    drive.session(at: 3, "T1")
    drive.session(at: 4, "T2")
    var other = ModemEquipment.sample
    other.sim = "another"
    _ = drive.handle(Event(at: .seconds(5), .equipment(other)))
    #expect(drive.engine.sessions.map(\.equipment) == [.sample, other])
    drive.stop(at: 6)
    #expect(drive.handle(Event(at: .seconds(7), .equipment(.sample))).isEmpty)
    #expect(drive.fences.map(\.session) == [0])
  }

  @Test func `when equipment only lacks values of the last one, then it is no news`() {
    var lacking = ModemEquipment.sample
    (lacking.accessPoint, lacking.bearer, lacking.addresses) = (nil, nil, nil)
    #expect(!lacking.adds(to: .sample) && !ModemEquipment().adds(to: nil) && !ModemEquipment.sample.adds(to: .sample))
    #expect(ModemEquipment.sample.adds(to: lacking) && lacking.adds(to: nil))
    lacking.model = "M2"
    #expect(lacking.adds(to: .sample))
    #expect(
      ModemEquipment.sample.words
        == "Maker M <1>, firmware R1.2; SIM A1 0123456789abcdef; APN internet, default, ipv4v6")
  }

  @Test mutating func `when the first answer comes, then the open fence stays open and gets the test's name`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 100)
    #expect(testUUIDs == [nil, nil])
    let effects = drive.session(at: 6, "T1")
    #expect(drive.spans == [Span(1, 2), Span(2, nil)])
    #expect(testUUIDs == ["T1", "T1"])
    #expect(effects == [.sessionChanged(drive.engine.sessions[0])])
    #expect(drive.engine.sessions[0].finalized == nil)
  }

  @Test mutating func `when fences were entered before the answer, then their offsets are negative`() {
    drive.fix(at: 0)
    drive.session(at: 10, "T1")
    drive.fix(at: 12.5, north: 100)
    #expect(offsets == [-10_000, 2_500])
  }

  @Test mutating func `when an anchor is given, then it replaces the time of the answer`() {
    drive.fix(at: 1)
    drive.session(at: 10, "T1", anchor: 9.75)
    #expect(drive.engine.sessions[0].anchor == DriveTime(seconds: 9.75))
    #expect(offsets == [-8_750])
  }

  @Test(arguments: [(10.000_9, -10_000), (10.000_999, -10_000), (10.001, -10_001), (-0.000_999, 0), (-0.001, 1)])
  mutating func `when an offset has a fraction, then it is truncated towards zero`(anchor: Double, offset: Int64) {
    drive.fix(at: 0)
    drive.session(at: 11, "T1", anchor: anchor)
    #expect(offsets == [offset])
  }

  @Test mutating func `when a duration has a fraction of a millisecond, then it is truncated`() {
    drive.fix(at: 0.000_3)
    drive.fix(at: 2.999_9, north: 100)
    #expect(drive.fences[0].duration?.inMilliseconds == 2_999)
  }

  @Test mutating func `when the same answer comes again, then no fence ends and no session begins`() {
    drive.fix(at: 1)
    drive.session(at: 2, "T1")
    drive.session(at: 3, "T1")
    #expect(drive.spans == [Span(1, nil)])
    #expect(drive.engine.sessions.count == 1)
  }

  @Test mutating func `when a later answer names another test, then the fence and the session end, in that order`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 1)
    let effects = drive.session(at: 5, "T2")
    let sessions = drive.engine.sessions
    #expect(drive.spans == [Span(1, 5)])
    #expect(drive.engine.openFence == nil)
    #expect(effects == [.fenceClosed(drive.fences[0]), .sessionChanged(sessions[0]), .sessionBegan(sessions[1])])
    #expect(sessions.map(\.testUUID) == ["T1", "T2"])
    #expect(sessions.map(\.finalized) == [DriveTime(seconds: 5), nil])
    #expect(sessions[1].started == DriveTime(seconds: 5))
    #expect(sessions[1].anchor == DriveTime(seconds: 5))
  }

  @Test mutating func `when a later answer has come, then the next precise fix opens a fence on the same spot`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 1)
    drive.session(at: 5, "T2")
    drive.fix(at: 6, accuracy: 80)
    drive.fix(at: 7)
    #expect(drive.spans == [Span(1, 5), Span(7, nil)])
    #expect(testUUIDs == ["T1", "T2"])
    #expect(drive.fences.map(\.session) == [0, 1])
  }

  @Test mutating func `when a later answer comes between fences, then only the session changes`() {
    drive.session(at: 0, "T1")
    let effects = drive.session(at: 5, "T2")
    let sessions = drive.engine.sessions
    #expect(effects == [.sessionChanged(sessions[0]), .sessionBegan(sessions[1])])
  }

  @Test mutating func `when a ping of the old session's fence comes late, then it still belongs to that fence`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 1)
    drive.session(at: 5, "T2")
    drive.fix(at: 5.2)
    drive.ping(at: 4.9)
    #expect(drive.pings == [1, 0])
  }

  @Test mutating func `when many sessions follow each other, then each fence's offset counts from its own session`() {
    for second in stride(from: 0.0, to: 40, by: 10) {
      drive.session(at: second, "T\(Int(second))")
      drive.fix(at: second + 1.5)
    }
    #expect(testUUIDs == ["T0", "T10", "T20", "T30"])
    #expect(offsets == [1_500, 1_500, 1_500, 1_500])
  }

  @Test mutating func `when Wi-Fi has spoiled a fence, then the fence is still spoiled after a later answer ends it`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 1)
    drive.path(at: 2, .wifi)
    drive.session(at: 3, "T2")
    #expect(drive.spans == [Span(1, 3)])
    #expect(drive.submittable == [false])
  }

  @Test
  mutating func
    `when the host's clock is set, then offsets grow by as much, so that the server's sum is the true time`()
  {
    drive.session(at: 0, "T1")
    drive.fix(at: 1.5)
    drive.session(at: 10, "T2")
    drive.fix(at: 11.5)
    let effects = drive.setClock(at: 12, by: .seconds(3600))
    #expect(effects == drive.engine.sessions.map { .sessionChanged($0) })
    #expect(offsets == [3_601_500, 3_601_500])
    #expect(drive.spans == [Span(1.5, 10), Span(11.5, nil)])
  }
}
