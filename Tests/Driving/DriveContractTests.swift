import Coverage
import Pinging
import TestSupport
import Testing

@testable import Driving
@testable import Networking
@testable import Positioning
@testable import Submission

/// The effects of each input of a drive, above all at its end and between two tests.
struct DriveContractTests {
  private var rig = DriveRig()

  private func count(_ kind: (Event.Kind) -> Bool) -> Int { rig.disk.events.count { kind($0.kind) } }

  private var sessionEvents: Int { count { if case .session = $0 { true } else { false } } }
  private var stops: [Event.Kind] {
    rig.disk.events.map(\.kind).filter { if case .stop = $0 { true } else { false } }
  }
  private var resolves: Int { rig.count { if case .resolve = $0 { true } else { false } } }

  /// A drive that is over after 5 s.
  private static func short() -> DriveRig { DriveRig { $0.parameters.maximumDuration = .seconds(5) } }

  @Test("when any input comes from outside, then its last effect is a decision about tests")
  mutating func decisions() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    let grant = GrantedTest(coverage: try .sample("T"), generation: 1, requested: .start, requestTime: .sampleStart)
    let inputs: [DriveInput] = [
      .pingsRead, .positioning(.status(.noFix)), .path(.cellular), .radio(RadioReading()), .granted(grant, for: 9),
      .requestFailed(TestTrouble("x"), for: 9), .resolved(try .sample(), grant, for: 9),
      .unresolved(reason: "x", for: 9), .lookedUp(host: "x", addresses: []), .lookUpFailed(host: "x", reason: "x"),
      .tick(DriveReadings(clock: DriveRig.reading(), isCaptureInTrouble: false)),
    ]
    for input in inputs {
      var drive = rig.drive
      #expect(drive.handle(input, at: rig.boot).last == .proceed(.decision), "\(input)")
    }
  }

  // MARK: The end

  @Test("when the drive has stopped by itself, then its end is the time of that stop, even if it is noted late")
  mutating func lateEnd() throws {
    rig = Self.short()
    try rig.startPinging()
    rig.fix(0)
    rig.wait(6)
    rig.tick()
    #expect(rig.disk.fences[0]?.exited == .seconds(5), "stored with the stop, not with the end")
    rig.wait(30)
    rig.feed(.ended)
    #expect(rig.disk.end?.at == .seconds(5) && rig.disk.end?.reason == .duration)
    #expect(stops == [.stop(.duration)])
  }

  @Test("when an input comes after the end, then it is not in the log, and nothing is requested or reported")
  mutating func afterTheEnd() throws {
    let inputs: [(String, (inout DriveRig) -> Void)] = [
      ("path", { $0.feed(.path(.wifi)) }), ("fix", { $0.fix(0) }), ("tick", { $0.tick() }),
      ("radio", { $0.feed(.radio(RadioReading(technology: Technology("4G/LTE")))) }),
    ]
    for (name, input) in inputs {
      rig = Self.short()
      rig.feed(.began)
      rig.wait(6)
      input(&rig)
      #expect(rig.drive.isOver && rig.disk.events.map(\.kind) == [.stop(.duration)], "\(name)")
      #expect(rig.requests.isEmpty && rig.status == nil, "\(name)")
    }
  }

  @Test("when the operator stops the drive, then the log has one stop")
  mutating func oneStop() throws {
    try rig.startPinging()
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(stops == [.stop(.user)])
  }

  @Test("when the server's limit has passed before its test counts, then the drive stops, and the log says so")
  mutating func serverLimit() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    rig.wait(70)
    _ = try rig.grant("T1", "\"max_coverage_session_seconds\": 60")
    rig.tick()
    #expect(rig.drive.isOver && stops == [.stop(.duration)])
  }

  @Test("when a drive is stopped before its first tick, then its summary still has a reason for its silence")
  mutating func quickEnd() {
    rig.feed(.began)
    rig.feed(.path(.wifi))
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(rig.drive.summary(drive: 1, capture: nil, at: rig.now).silence?.contains("wlan0") == true)
  }

  @Test("when the reason for silence changes at the end, then the one that lasted longest is named")
  mutating func longestSilence() {
    rig.feed(.began)
    rig.feed(.path(.wifi))
    for _ in 0..<3 {
      rig.wait(1)
      rig.tick()
    }
    rig.feed(.path(.offline))
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(rig.drive.summary(drive: 1, capture: nil, at: rig.now).silence?.contains("wlan0") == true)
  }

  @Test("when a drive ends before the first result of a ping, then the summary says so")
  mutating func noResult() throws {
    try rig.startPinging()
    rig.wait(1)
    rig.tick()
    rig.tick()
    #expect(!rig.drive.isSaved, "its end is not in the store")
    #expect(
      rig.drive.summary(drive: 1, capture: nil, at: rig.now).silence
        == "it ended before the first ping was answered or lost")
  }

  // MARK: Events

  @Test("when a fix arrives at the moment of the last change, then it is not late; a moment before, it is")
  mutating func lateFix() throws {
    try rig.startPinging()
    rig.wait(1)
    rig.fix(0, ago: 1)
    #expect(rig.disk.events.last?.at == .start && rig.disk.events.last?.delivered == nil)
    rig.wait(1)
    rig.feed(.path(.wifi))
    rig.wait(1)
    rig.fix(0, ago: 1.5)
    #expect(rig.disk.events.last?.delivered == rig.now)
  }

  @Test("when the modem reports, then the log has its technology and its values, each when it has changed")
  mutating func radio() {
    rig.feed(.began)
    var modem = ModemReading()
    modem.mask = 7
    func radio() -> [Event.Kind] { rig.disk.events.map(\.kind) }
    rig.feed(.radio(RadioReading()))
    #expect(radio() == [.radio(nil)], "the first report counts, also without a technology")
    rig.feed(.radio(RadioReading(technology: Technology("4G/LTE"), modem: modem)))
    #expect(radio() == [.radio(nil), .radio(Technology("4G/LTE")), .modem(modem)])
    rig.feed(.radio(RadioReading(technology: Technology("4G/LTE"), modem: modem, obstacle: "x")))
    #expect(radio().count == 3)
    modem.mask = 8
    rig.feed(.radio(RadioReading(technology: Technology("4G/LTE"), modem: modem)))
    #expect(radio().count == 4 && radio().last == .modem(modem))
    rig.feed(.radio(RadioReading(technology: Technology("5G/NR"), modem: modem)))
    #expect(radio().count == 5 && radio().last == .radio(Technology("5G/NR")))
    var lacking = ModemEquipment.sample
    lacking.accessPoint = nil
    for equipment in [lacking, lacking, .sample, lacking, nil] {
      rig.feed(.radio(RadioReading(technology: Technology("5G/NR"), modem: modem, equipment: equipment)))
    }
    #expect(radio().suffix(2) == [.equipment(lacking), .equipment(.sample)], "a lost connection is no news")
    #expect(radio().count == 7 && rig.drive.engine.sessions.last?.equipment == .sample)
    var (flapping, other) = (ModemEquipment.sample, ModemEquipment.sample)
    (flapping.accessPoint, other.accessPoint, other.sim) = ("ims", "ims", "fedcba9876543210")
    func feed(_ equipment: ModemEquipment) {
      rig.feed(.radio(RadioReading(technology: Technology("5G/NR"), modem: modem, equipment: equipment)))
    }
    feed(flapping)
    rig.wait(59)
    feed(flapping)
    #expect(radio().count == 7, "a connection that flaps is recorded once a minute")
    rig.wait(1)
    feed(flapping)
    feed(.sample)
    #expect(radio().count == 8 && radio().last == .equipment(flapping))
    feed(other)
    #expect(radio().count == 9 && radio().last == .equipment(other), "another SIM at once")
    rig.tick()
    #expect(rig.status?.radio?.modem == modem && rig.status?.technology == Technology("5G/NR"))
  }

  @Test("when the selected clock changes, then the log notes it once, at that moment")
  mutating func clockNotes() throws {
    rig.feed(.began)
    rig.wait(1)
    rig.tick(isTrusted: false)
    rig.tick(isTrusted: false)
    #expect(rig.disk.clockNotes.map(\.at) == [.start, .seconds(1)])
  }

  @Test("when 4 s have passed, then the log is sealed before it is synced")
  mutating func seals() throws {
    try rig.startPinging()
    var order: [String] = []
    rig.onEffect = { effect in
      if case .disk(.seal) = effect { order.append("seal") }
      if case .disk(.syncLog) = effect { order.append("sync") }
    }
    rig.wait(4)
    rig.tick()
    #expect(order == ["seal", "sync"])
  }

  // MARK: Tests

  @Test("when a test is granted and its pings begin, then the log has one session, and its first request has no line")
  mutating func oneSession() throws {
    try rig.startPinging()
    #expect(sessionEvents == 1)
    let another = "info: asking the control server for another test"
    #expect(!rig.lines.contains(another))
    rig.ping(.refused(rttNanoseconds: 1))
    rig.feed(.pingsRead)
    #expect(rig.lines.contains(another))
  }

  @Test("when the test in use is refused, then the next one gets the fences before its server is resolved")
  mutating func refusedTest() throws {
    try rig.startPinging("T1", "\"loop_uuid\": \"L\"")
    rig.ping(.refused(rttNanoseconds: 1))
    rig.feed(.pingsRead)
    #expect(rig.requests.last?.loopUUID == "L")
    _ = try rig.grant("T2")
    #expect(rig.drive.engine.sessions.map(\.testUUID) == ["T1", "T2"])
  }

  @Test("when the test in use still works, then the next one gets no fences before its pings begin")
  mutating func nextTest() throws {
    try rig.startPinging()
    for _ in 0..<31 {
      rig.wait(0.1)
      rig.ping(.lost(.up))
    }
    rig.feed(.pingsRead)
    _ = try rig.grant("T2", "\"loop_uuid\": \"M\"")
    #expect(rig.drive.engine.sessions.map(\.testUUID) == ["T1"])
    try rig.resolve()
    #expect(rig.drive.engine.sessions.map(\.testUUID) == ["T1", "T2"])
    #expect(rig.disk.sessions.mapValues(\.loopUUID) == [0: nil, 1: "M"], "the loop is the second test's")
  }

  @Test("when pings are answered between two outages, then the losses are not in a row, and no test is requested")
  mutating func losses() throws {
    try rig.startPinging()
    for number in 0..<60 {
      rig.wait(0.1)
      rig.ping(number == 29 ? .answered(rttNanoseconds: 1) : .lost(.up))
      rig.feed(.pingsRead)
      if number == 58 { #expect(rig.requests.count == 1) }
    }
  }

  @Test("when the grant comes after the link has changed, then the first session gets it, and no ping uses it")
  mutating func lateGrant() throws {
    rig.feed(.began)
    rig.feed(.path(.modem("10.0.0.1")))
    let request = try #require(rig.request)
    rig.wait(1)
    rig.feed(.path(.modem("10.0.0.2")))
    rig.wait(20)
    rig.tick()
    let grant = GrantedTest(
      coverage: try .sample("T1"), generation: request.generation, requested: request.at, requestTime: request.time)
    rig.feed(.granted(grant, for: request.generation))
    #expect(rig.drive.engine.sessions.map(\.testUUID) == ["T1"])
    #expect(resolves == 0)
  }

  @Test("when a test was granted late, then the resolution of its server has its own timeout")
  mutating func activation() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    rig.wait(14)
    _ = try rig.grant("T1")
    rig.wait(2)
    rig.tick()
    #expect(resolves == 1 && rig.requests.count == 1)
  }

  @Test("when pings cannot begin, then they are retried soon, not after the timeout for a slow server")
  mutating func retry() throws {
    rig.pingTrouble = "no such interface"
    try rig.startPinging()
    rig.wait(2)
    rig.tick()
    #expect(resolves == 2)
  }

  @Test("when the server moves, then the silence counts from the move")
  mutating func moved() throws {
    var pings = ServerPings()
    let grant = GrantedTest(
      coverage: try .sample("T", host: "server.example"), generation: 1, requested: .start, requestTime: .sampleStart)
    let target = PingTarget(address: try .sample(2), echo: .rtr(token: []))
    pings.begin(1, PingStart(target: target, grant: grant, generation: 1, firstSlot: 0), at: 0)
    _ = pings.tick(at: 31_000_000_000)
    let first = pings.found([try .sample(3)], of: "server.example", at: 32_000_000_000)
    #expect(first.count == 2)
    #expect(pings.found([try .sample(3)], of: "server.example", at: 33_000_000_000) == [])
    #expect(pings.tick(at: 34_000_000_000) == [], "the silence counts from the move")
  }

  @Test("when a ping was answered after 20 s, then the 30 s of silence count from that answer")
  mutating func silentServer() throws {
    try rig.startPinging()
    rig.wait(20)
    rig.ping(.answered(rttNanoseconds: 1))
    rig.wait(15)
    rig.tick()
    #expect(rig.count { if case .lookUp = $0 { true } else { false } } == 0)
  }

  @Test("when the gate holds a request, then the reason does not contain the remaining seconds")
  func heldReason() {
    let trouble = TestTrouble(ServerGate.Hold.retryAfter(.seconds(5)))
    #expect(trouble.reason == ServerGate.Hold.retryAfter(.seconds(500)).reason)
    #expect(trouble.reason != trouble.text)
  }
}
