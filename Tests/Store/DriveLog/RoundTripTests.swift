import Coverage
import Foundation
import OrderedJSON
import Testing

@testable import Store

/// Written values read back exactly.
@Suite struct RoundTripTests {
  @Test func `when times are written, then they are exact to the microsecond`() throws {
    var times: [Int64] = [0, 1, -1, 999_999, 1_000_000, 100_000, 300_000, 14_400_000_000, 999_999_999_999_999]
    for _ in 0..<1_000 { times.append(.random(in: -1_000_000_000...100_000_000_000_000)) }
    let events = times.map { Event(at: DriveTime(microseconds: $0), .stop(.user)) }
    #expect(try Log.roundTrip(events).events == events)
  }

  @Test func `when round-trip times are written, then they are exact to the nanosecond`() throws {
    var times: [Int64] = [0, 1, 31_670_000, 999_999_999, 1_000_000_000]
    for _ in 0..<1_000 { times.append(.random(in: 0...2_000_000_000)) }
    let events = times.map { Event.at(1, .ping(.answered(rttNanoseconds: $0))) }
    #expect(try Log.roundTrip(events).events == events)
  }

  @Test func `when fixes are written, then each figure reads back exactly`() throws {
    var events: [Event] = [.at(1, .fix(.lost))]
    for _ in 0..<500 {
      let place = Coordinate(latitude: .random(in: -90...90), longitude: .random(in: -180...180))
      let fix = Fix(
        coordinate: place, accuracy: .random(in: 0...20), altitude: .random(in: -400...9_000),
        course: Bool.random() ? .random(in: 0...360) : nil, speed: Bool.random() ? .random(in: 0...1e-6) : nil)
      events.append(.at(2, .fix(fix)))
    }
    #expect(try Log.roundTrip(events).events == events)
  }

  @Test func `when every kind of event is written, then it reads back the same`() throws {
    var events: [Event] = Path.allCases.map { .at(1, .path($0)) }
    events += StopReason.allCases.map { .at(1, .stop($0)) }
    events += PingFailure.allCases.map { .at(1, .ping(.failed($0))) }
    events += (Technology.knownNames + ["4G/\"LTE\"\n"]).map { .at(1, .radio(Technology($0))) }
    events += [.at(1, .radio(nil)), .at(1, .session(SessionGrant(testUUID: "T\\1")))]
    events += [.at(1, .ping(.unsent())), .at(1, .ping(.unsent(count: 7)))]
    events += [.at(1, .unmeasured("a \"reason\"")), .at(1, .unmeasured(nil))]
    events += [.at(1, .modem(nil)), .at(1, .modem(ModemReading())), .at(1, .modem(.sample))]
    events += [.at(1, .equipment(.sample)), .at(1, .equipment(ModemEquipment()))]
    let anchor = DriveTime(microseconds: -1_500_001)
    let grant = SessionGrant(
      testUUID: "T2", anchor: anchor, maximumDuration: .milliseconds(14_400_500), loopUUID: "L")
    events.append(.at(1, .session(grant)))
    #expect(try Log.roundTrip(events).events == events)
  }

  @Test("when a modem's cells do not change, then they are written once, and read back in each report")
  func unchangedCells() throws {
    var (louder, other, none) = (ModemReading.sample, ModemReading.sample, ModemReading.sample)
    louder.signal[.rsrp] = -80
    other.neighbours = []
    (none.neighbours, none.secondaries) = ([], [])
    let reports: [ModemReading?] = [.sample, louder, .sample, other, none, none, .sample, nil, .sample, louder]
    let events = reports.map { Event.at(1, .modem($0)) }
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    for event in events {
      try writer.append(event)
      try writer.append(.at(1, .path(.wifi)))
    }
    let lines = try scratch.lines.filter { $0.contains(#""modem""#) }
    #expect(
      lines.map { $0.contains(#""cells":"unchanged""#) }
        == [1, 2, 9].reduce(into: reports.map { _ in false }) { $0[$1] = true })
    #expect(
      lines.map { $0.contains("neighbours") } == [true, false, false, false, false, false, true, false, true, false])
    let drive = try RecordedDrive(path: scratch.path)
    #expect(drive.events.filter { $0.kind != .path(.wifi) } == events)
    var read: [Event] = []
    _ = try LoggedPositions(path: scratch.path).forEachEvent { read.append($0) }
    #expect(read == drive.events)
  }

  @Test("when a line is lost, then unchanged cells are none or those before it, until a line names some")
  func lostCells() throws {
    let named = #"{"at":1,"modem":{"neighbours":[{"kind":"lte","pci":7}]}}"#
    let unchanged = #"{"at":2,"modem":{"mask":1},"cells":"unchanged"}"#
    func neighbours(_ lines: String...) throws -> [Int?] {
      try Log.read(lines[0], lines[1], lines[2]).events.map {
        if case .modem(let reading) = $0.kind { reading?.neighbours.count } else { nil }
      }
    }
    #expect(try neighbours(unchanged, named, unchanged) == [0, 1, 1])
    #expect(try neighbours(named, "garbage", unchanged) == [1, 0])
    #expect(
      try neighbours(named, #"{"at":2,"modem":{"mask":1}}"#, unchanged) == [1, 0, 0], "as in logs of earlier builds")
    #expect(try neighbours(named, #"{"at":2,"modem":{},"cells":7}"#, unchanged) == [1, 0, 0])
  }

  @Test func `when a fix was complete later than it came, then both times read back the same`() throws {
    let fix = Event.Kind.fix(Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738), accuracy: 5))
    let event = Event(at: DriveTime(microseconds: 1_000_001), fix, delivered: DriveTime(microseconds: 1_200_003))
    #expect(try Log.roundTrip([event]).events == [event])
    for odd in ["\"x\"", "null", "1e300", "[]"] {
      let read = try Log.read(#"{"at":1.0,"fix":{},"delivered":\#(odd)}"#, #"{"at":1.0,"radio":null,"delivered":2}"#)
      #expect(read.events == [.at(1, .fix(.lost)), .at(1, .radio(nil))])
    }
  }

  @Test("when a header of an earlier version has no speed limit, then the parameters have no speed limit")
  func earlierHeader() throws {
    let header = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","parameters":{"minimum_radius":15.0}}"#
    #expect(try RecordedDrive(Data((header + "\n").utf8)).header.parameters?.speedLimit == nil)
    #expect(try Log.read().header.parameters == nil)
  }

  @Test func `when the header has parameters, then they read back the same`() throws {
    var parameters = Parameters()
    (parameters.minimumRadius, parameters.accuracyLimit) = (22.7, 11.1)
    (parameters.warningAfter, parameters.giveUpAfter) = (.milliseconds(1_500), .seconds(77))
    parameters.maximumDuration = .seconds(600)
    parameters.speedLimit = 77.5
    for path in Path.allCases {
      let started = WallTime(microseconds: 1_795_168_800_123_000)
      let header = DriveLogHeader(started: started, initialPath: path, parameters: parameters)
      #expect(try Log.roundTrip([], header: header).header == header)
    }
  }

  @Test func `when events are written, then the lines are the contract's`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    try writer.append(.at(0.1, .ping(.answered(rttNanoseconds: 31_670_000))))
    try writer.append(.at(0.2, .ping(.failed(.timeout))), beside: [.init("late", true)])
    try writer.append(.at(3.5, .radio(nil)))
    try writer.append(.at(6, .session(SessionGrant(testUUID: "T1", anchor: DriveTime(microseconds: 6_000_000)))))
    try writer.append(.at(7, .fix(Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738), accuracy: 5))))
    try writer.append(.at(30, .stop(.user)))
    let lines = try scratch.lines.map(String.init)
    #expect(
      lines == [
        Log.header, #"{"at":0.1,"ping":{"rtt_ms":31.67}}"#, #"{"at":0.2,"ping":{"error":"timeout"},"late":true}"#,
        #"{"at":3.5,"radio":null}"#, #"{"at":6.0,"session":{"test_uuid":"T1"}}"#,
        #"{"at":7.0,"fix":{"latitude":48.2082,"longitude":16.3738,"accuracy":5.0}}"#, #"{"at":30.0,"stop":{}}"#,
      ])
  }

  @Test func `when the header has ping settings, then they read back the same`() throws {
    let pings = DriveLogHeader.Pings(interval: .milliseconds(250), timeout: .milliseconds(1_500))
    let header = DriveLogHeader(
      started: WallTime(microseconds: 1_795_168_800_123_000), initialPath: .cellular, parameters: nil, pings: pings)
    #expect(try Log.roundTrip([], header: header).header.pings == pings)
  }

  @Test
  func `when pings have their numbers on the wire beside them, then the numbers read back and the events are the same`()
    throws
  {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    let events: [Event] = [
      .at(0, .radio(nil)), .at(0.1, .ping(.failed(.timeout))), .at(0.2, .ping(.answered(rttNanoseconds: 1))),
      .at(0.3, .ping(.failed(.network))),
    ]
    try writer.append(events[0])
    try writer.append(events[1], beside: [.init("sequence", 4_294_967_295)])
    try writer.append(events[2], beside: [.init("sequence", 0)])
    try writer.append(events[3])
    let drive = try RecordedDrive(path: scratch.path)
    #expect(drive.events == events)
    #expect(drive.pingSequences == [1: .max, 2: 0])
  }

  @Test func `when details of the receiver are beside a fix, then the event is the same`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    let fix = Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738), accuracy: 5)
    try writer.append(
      .at(7, .fix(fix)), beside: [.init("accuracy_source", "eph"), .init("mode", 3), .init("eph", .number(8.1))])
    #expect(try scratch.lines.last?.hasSuffix(#"},"accuracy_source":"eph","mode":3,"eph":8.1}"#) == true)
    #expect(try RecordedDrive(path: scratch.path).events == [.at(7, .fix(fix))])
    let nonsense = #"{"at":1.0,"fix":{"latitude":48.2,"longitude":16.3},"eph":"bad","mode":null,"status":{}}"#
    #expect(try Log.read(nonsense).events.count == 1)
  }

  @Test func `when a ping's number is invalid, then the ping still counts`() throws {
    for number in ["-1", "4294967296", "1.5", "\"7\"", "null", "{}"] {
      let drive = try Log.read(#"{"at":0.1,"ping":{"rtt_ms":31.67},"sequence":\#(number)}"#)
      #expect(drive.events.count == 1, "\(number)")
      #expect(drive.pingSequences.isEmpty)
    }
  }

  @Test func `when the header's ping settings are invalid, then they are left out`() throws {
    for pings in [#"{"interval":0,"timeout":1}"#, #"{"interval":0.1}"#, "7", #"{"interval":"a","timeout":1}"#] {
      let header = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular","pings":\#(pings)}"#
      #expect(try RecordedDrive(Data((header + "\n").utf8)).header.pings == nil)
    }
  }
}
