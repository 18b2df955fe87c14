import Coverage
import Foundation
import Logging
import Store
import Submission
import Synchronization
import TestSupport
import Testing

@testable import Networking
@testable import SpeedTest

/// A loop of real tests: the real control server tool, the real measurement server, a real store, and clocks that the
/// test turns.
struct LoopRunnerSlowTests {
  /// A drive beside the tests.
  private final class Observer: TestObserver {
    let calls = Collected<String>()
    let parts = Collected<SpeedTestDelay.Part?>()
    /// Done when the QoS tests begin, and not by a test that waits for them: on a busy machine it sees them when they are over.
    let whenQoSBegins = Mutex<(@Sendable () -> Void)?>(nil)

    func testBegan() {
      calls.append("began")
      guard calls.all.count(where: { $0 == "began" }) == 2 else { return }
      whenQoSBegins.withLock { $0 }?()
    }
    func test(loads part: SpeedTestDelay.Part?) { parts.append(part) }
    func testEnded() { calls.append("ended") }
    func delays() async -> [SpeedTestDelay] {
      calls.append("delays")
      return []
    }
  }

  /// The parts of one device.
  private final class Rig: Sendable {
    let folder: TemporaryFolder
    let store: DriveStore
    let measurement: RunningProgram
    let tool: ControlServerTool
    let client: ControlServerClient
    let sender: Sender
    let conditions = TestConditions()
    let environment: ControlledTest.Environment
    let clock = TurnedLoopClock()
    let lines = LogLines()
    let observer = Observer()
    let news = Collected<LoopNews>()
    let options: TestOptions

    init(_ faults: String..., withQoS: Bool = false) async throws {
      folder = try TemporaryFolder()
      store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
      let server = try await MeasurementServerTool(faults.flatMap { ["--fault", $0] }, withQoS: withQoS)
      measurement = server.program
      tool = try await ControlServerTool(server.controlServerOptions)
      var options = TestOptions()
      options.runsQoS = withQoS
      self.options = options
      client = try ControlServerClient(
        url: tool.url, caFile: nil, requestTimeout: .seconds(60),
        device: Device(
          model: "test", device: "test", osVersion: "1", language: "en", timezone: "Etc/UTC", softwareVersion: "1.0",
          softwareVersionCode: 1, softwareRevision: "test"))
      let clock = SenderClock(
        wall: { WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) },
        boot: { .seconds(ProcessInfo.processInfo.systemUptime) }, bootID: "boot")
      let timekeeper = try Timekeeper(store: store, server: client, clock: clock, logger: lines.logger)
      sender = try Sender(store: store, server: client, clock: clock, timekeeper: timekeeper, logger: lines.logger)
      environment = ControlledTest.Environment(
        store: store, sender: sender, timekeeper: timekeeper, conditions: conditions, observer: observer,
        logger: lines.logger)
    }

    func runner(_ rules: LoopRules) async throws -> LoopRunner {
      try await LoopRunner(
        rules, options: options, environment: environment, host: clock.host
      ) { [news] in news.append($0) }
    }

    func finish() async throws {
      try await tool.program.stop()
      try await measurement.stop()
    }
  }

  private static func rules(count: Int, distance: Double? = nil) throws -> LoopRules {
    try LoopRules(count: count, every: .seconds(900), distance: distance)
  }

  @Test(
    "when the process ends before the loop handles its first inputs, then no test starts, and no bytes are charged")
  func endedAtOnce() async throws {
    let rig = try await Rig()
    for input: LoopInput in [.resume, .tick, .fix(.sample(0))] {
      let runner = try await rig.runner(try Self.rules(count: 3))
      runner.put(input)
      runner.put(.tick)
      let running = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await runner.run()
      }
      #expect(await running.value == nil)
      let memory = await runner.memory
      #expect(memory.number == 0 && memory.stage == .waiting, "\(input)")
      #expect(memory.usage.usedInDay(at: rig.clock.moment.wall) == 0)
    }
    #expect(try StoreReader(rig.store).speedTests().isEmpty && rig.news.ended.isEmpty)
    try await rig.finish()
  }

  @Test(
    "when the waiting time passes again and again, then each test is stored with number and loop, and sent once")
  func byTime() async throws {
    let rig = try await Rig()
    let runner = try await rig.runner(try Self.rules(count: 3))
    let running = Task { await runner.run() }
    for number in 1...3 {
      _ = try await eventually("test \(number) has ended") { rig.news.ended.count >= number ? true : nil }
      rig.clock.turn(by: .seconds(900))
    }
    #expect(await running.value == .count)
    let tests = try StoreReader(rig.store).speedTests()
    #expect(tests.map(\.number) == [1, 2, 3] && tests.allSatisfy { $0.outcome == .completed })
    #expect(Set(tests.compactMap(\.loopUUID)).count == 1)
    #expect(try await rig.sender.pass(.warm).speedTests.sent == 3)
    let held = try await rig.tool.speedTests()
    #expect(held.map { $0["results_accepted"] as? Int } == [1, 1, 1])
    #expect(held.map { $0["test_counter"] as? Int } == [1, 2, 3])
    let memory = await runner.memory
    #expect(memory.tally.completed == 3)
    #expect(memory.usage.usedInDay(at: rig.clock.moment.wall) > 0, "the bytes of the tests are charged")
    try await rig.finish()
  }

  @Test(
    "when the device moves, then the next test starts at the distance; without a fix there is only a notice")
  func byDistance() async throws {
    let rig = try await Rig()
    let runner = try await rig.runner(try Self.rules(count: 2, distance: 100))
    let running = Task { await runner.run() }
    _ = try await eventually("a notice") { rig.news.notices.first }
    #expect(rig.news.notices.first?.hold == .noFix)
    runner.put(.fix(Self.fix(0)))
    _ = try await eventually("the first test has ended") { rig.news.ended.first }
    runner.put(.fix(Self.fix(50)))
    runner.put(.fix(Self.fix(120)))
    #expect(await running.value == .count)
    #expect(rig.news.ended.map(\.number) == [1, 2])
    try await rig.finish()
  }

  @Test("when the sources were heard before the loop runs, then its first decision knows all of them, in any order")
  func heardBefore() async throws {
    let rig = try await Rig()
    let fix = LoopInput.fix(Self.fix(0))
    for (inputs, holds) in [
      ([.link(otherLink: nil), fix], []), ([fix, .link(otherLink: "on Wi-Fi")], [.otherLink]),
    ] as [([LoopInput], [LoopHold])] {
      let before = (rig.news.ended.count, rig.news.notices.count)
      let runner = try await LoopRunner(
        try Self.rules(count: 1, distance: 100), options: rig.options, environment: rig.environment, isNew: true,
        host: rig.clock.host
      ) { [news = rig.news] in news.append($0) }
      inputs.forEach(runner.put)
      let running = Task { await runner.run() }
      _ = try await eventually("a test or a notice") {
        rig.news.ended.count > before.0 || rig.news.notices.count > before.1 ? () : nil
      }
      runner.put(.stop)
      _ = await running.value
      #expect(rig.news.notices.dropFirst(before.1).map(\.hold) == holds)
      #expect(rig.news.ended.count == before.0 + (holds.isEmpty ? 1 : 0))
    }
    try await rig.finish()
  }

  private static func fix(_ metres: Double) -> Fix {
    Fix(coordinate: Coordinate(latitude: 48.2 + metres / 111_195, longitude: 16.37), accuracy: 5)
  }

  @Test(
    "when the loop is paused during a test, then the test is stored as aborted, and the next one waits for the resume")
  func paused() async throws {
    let rig = try await Rig("slow=20000")
    let runner = try await rig.runner(try Self.rules(count: 2))
    let running = Task { await runner.run() }
    _ = try await eventually("the test measures") { try StoreReader(rig.store).speedTests().first }
    runner.put(.pause)
    _ = try await eventually("it was aborted") { rig.news.ended.first }
    let test = try #require(try StoreReader(rig.store).speedTests().first)
    #expect(test.outcome == .aborted && test.error == "the loop was paused" && test.state == .waiting)
    rig.clock.turn(by: .seconds(900))
    _ = try await eventually("a notice") { rig.news.notices.first }
    #expect(try StoreReader(rig.store).speedTests().count == 1)
    runner.put(.resume)
    _ = try await eventually("the second test measures") {
      try StoreReader(rig.store).speedTests().count == 2 ? true : nil
    }
    runner.put(.stop)
    #expect(await running.value == .user)
    #expect(try await rig.sender.pass(.warm).speedTests.sent == 2)
    #expect(try await rig.tool.speedTests().map { $0["state"] as? String } == ["ABORTED", "ABORTED"])
    try await rig.finish()
  }

  @Test(
    "when the process ends during a test, then the next process finds it aborted, and goes on with the next number")
  func restart() async throws {
    let rig = try await Rig("slow=20000")
    let first = try await rig.runner(try Self.rules(count: 2))
    let running = Task { await first.run() }
    _ = try await eventually("the test measures") { try StoreReader(rig.store).speedTests().first }
    running.cancel()
    #expect(await running.value == nil, "the loop is not over")
    let second = try await rig.runner(try Self.rules(count: 2))
    #expect(await second.memory.number == 1)
    let again = Task { await second.run() }
    _ = try await eventually("the restart is noticed") { await second.memory.tally.aborted == 1 ? true : nil }
    rig.clock.turn(by: .seconds(900))
    _ = try await eventually("the second test measures") {
      try StoreReader(rig.store).speedTests().contains { $0.number == 2 } ? true : nil
    }
    second.put(.stop)
    #expect(await again.value == .user)
    #expect(try StoreReader(rig.store).speedTests().map(\.number) == [1, 2])
    try await rig.finish()
  }

  @Test(
    "when the default route is no modem's, then a test keeps its technology if the route to the server's address is",
    arguments: [(.modem, Technology("4G/LTE")), (.wifi, nil)] as [(Link.Kind, Technology?)])
  func routeOfAddress(kind: Link.Kind, technology: Technology?) async throws {
    let rig = try await Rig()
    @Sendable func route(_ kind: Link.Kind, to host: String) -> PathReading {
      let link = Link(interface: kind.rawValue, kind: kind, isRunning: true)
      return PathReading(link: link, way: Way(destination: host, interface: kind.rawValue, address: "192.0.2.9"))
    }
    rig.conditions.note(RadioReading(technology: Technology("4G/LTE")))
    rig.conditions.note(route(.ethernet, to: "server.example"))
    let test = ControlledTest(rig.environment, options: rig.options, loop: nil)
    let end = try await test.run(progress: { [conditions = rig.conditions] step in
      if step.phase == .downloadPreTest { conditions.note(route(kind, to: "192.0.2.1")) }
    })
    #expect(end.outcome == .completed && end.figures?.links?.map(\.interface) == [kind.rawValue])
    #expect(try StoreReader(rig.store).speedTests().map(\.technology) == [technology])
    try await rig.finish()
  }

  @Test(
    "when the technology changes within a test, then its technology and its signal are those of the last reading with a technology"
  )
  func radioOfOneReading() async throws {
    let rig = try await Rig()
    func reading(_ technology: Technology?, _ signal: [SignalQuantity: Double]) -> RadioReading {
      var modem = ModemReading()
      modem.signal = signal
      return RadioReading(technology: technology, modem: modem)
    }
    rig.conditions.note(reading(Technology("4G/LTE"), [.rsrp: -120]))
    let (nr, none) = (reading(Technology("5G/NR"), [.nrRSRP: -70]), reading(nil, [.rsrp: -99]))
    let test = ControlledTest(rig.environment, options: rig.options, loop: nil)
    let end = try await test.run(progress: { [conditions = rig.conditions] step in
      guard step.phase == .upload else { return }
      conditions.note(nr)
      conditions.note(none)
    })
    #expect(end.outcome == .completed && end.figures?.signal == -70)
    #expect(try StoreReader(rig.store).speedTests().map(\.technology) == [Technology("5G/NR")])
    try await rig.finish()
  }

  @Test(
    "when QoS tests follow a test of the loop, then their bytes are charged with the test's own, while they run and after"
  )
  func qos() async throws {
    let rig = try await Rig(withQoS: true)
    let runner = try await rig.runner(try Self.rules(count: 1))
    #expect(await runner.run() == .count)
    let end = try #require(rig.news.ended.first?.end)
    let measured = try #require(end.figures).traffic
    // The call alone has 100 packets of 200 bytes each way.
    #expect(end.traffic.sent > measured.sent + 20_000 && end.traffic.received > measured.received + 20_000)
    #expect(await runner.memory.usage.usedInDay(at: rig.clock.moment.wall) == end.traffic.total)
    #expect(try StoreReader(rig.store).speedTests().first?.qosState == .waiting)
    #expect(rig.lines.contains("11 QoS tests made"))
    #expect(rig.observer.calls.all == ["began", "ended", "delays", "began", "ended"], "pings pause under load alone")
    let loads = rig.observer.parts.all
    #expect(loads == [nil, .download, nil, nil, .download, .upload, nil, .upload, nil], "each pre-test has its load")
    try await rig.finish()
  }

  @Test(
    "when a loop or its process ends during the QoS tests, then the test before them counts as completed",
    arguments: [(false, .user), (true, .count)] as [(Bool, LoopEnd)])
  func endedDuringQoS(isCancelled: Bool, end: LoopEnd) async throws {
    let rig = try await Rig(withQoS: true)
    let runner = try await rig.runner(try Self.rules(count: 1))
    let running = Task { await runner.run() }
    rig.observer.whenQoSBegins.withLock { $0 = { if isCancelled { running.cancel() } else { runner.put(.stop) } } }
    #expect(await running.value == end)
    let test = try #require(try StoreReader(rig.store).speedTests().first)
    #expect(test.outcome == .completed)
    let tally = await runner.memory.tally
    #expect(tally.completed == 1 && tally.aborted == 0)
    let stored = try await LoopRunner.stored(in: rig.store, rig.lines.logger)
    #expect(stored?.tally == tally, "on the disk too")
    #expect(rig.lines.contains("no QoS results: \(isCancelled ? "the program ends" : "the loop ended")"))
    try await rig.finish()
  }

  @Test("when the program is killed during the QoS tests of a loop, then at least the bytes until then stay charged")
  func killedDuringQoS() async throws {
    let rig = try await Rig(withQoS: true)
    let first = try await rig.runner(try Self.rules(count: 2))
    let running = Task { await first.run() }
    _ = try await eventually("the result is stored, and the loop's state has its bytes") { () -> Bool? in
      guard let test = try StoreReader(rig.store).speedTests().first, let bytes = test.figures?.traffic.total,
        let memory = try await LoopRunner.stored(in: rig.store, rig.lines.logger)
      else { return nil }
      return memory.usage.current > bytes ? true : nil
    }
    // The state on the disk is all that a killed process leaves.
    let stored = try await LoopRunner.stored(in: rig.store, rig.lines.logger)
    let left = try #require(stored)
    #expect(left.stage == .testing)
    running.cancel()
    _ = await running.value
    var next = LoopCoordinator(
      resuming: left, try Self.rules(count: 2), bootID: rig.clock.host.bootID, at: rig.clock.moment)
    _ = next.handle(.tick, at: rig.clock.moment)
    let charged = next.memory.usage.usedInDay(at: rig.clock.moment.wall)
    #expect(charged >= max(left.usage.current, DataUsage.unknownTest))
    try await rig.finish()
  }

  @Test("when the server makes no tests, then the tests of the loop fail and count, and no row is stored")
  func refused() async throws {
    let rig = try await Rig()
    try await rig.tool.setFault("error", on: "testRequest", count: 1)
    let runner = try await rig.runner(try Self.rules(count: 1))
    #expect(await runner.run() == .count)
    #expect(await runner.memory.tally.failed == 1)
    #expect(try StoreReader(rig.store).speedTests().isEmpty)
    try await rig.finish()
  }

  @Test("when the stored loop is damaged or of another form, then a line says so, and a new loop begins")
  func damaged() async throws {
    let rig = try await Rig()
    try await rig.store.loop.persist("{\"number\":-1}")
    let runner = try await rig.runner(try Self.rules(count: 1))
    #expect(await runner.memory.number == 0)
    #expect(rig.lines.all.contains { $0.contains("the stored loop cannot be used") })
    try await rig.finish()
  }

  @Test("when a data limit is used up, then a single test is refused with a line, until the next period")
  func budget() async throws {
    let rig = try await Rig()
    let budget = DataBudget(
      rig.store, limits: try DataLimits(day: 1_000_000, month: nil), host: rig.clock.host, logger: rig.lines.logger)
    #expect(try await budget.refusal() == nil)
    try await budget.end(try await budget.begin(), bytes: 999_999)
    #expect(try await budget.refusal() == nil, "the bytes of the test replaced its charge")
    try await budget.end(try await budget.begin(), bytes: 1)
    #expect(try await budget.refusal()?.contains("speedtest.data-limit.day") == true)
    rig.clock.turn(by: .seconds(86_400))
    #expect(try await budget.refusal() == nil)
    try await rig.finish()
  }

  @Test("when the program is killed during a single test, then the test counts as the largest one so far")
  func killedSingleTest() async throws {
    let rig = try await Rig()
    let budget = DataBudget(
      rig.store, limits: try DataLimits(day: 1_000_000, month: nil), host: rig.clock.host, logger: rig.lines.logger)
    try await budget.end(try await budget.begin(), bytes: 500_000)
    _ = try await budget.begin()
    #expect(try await budget.refusal()?.contains("tests used 1000000 of 1000000 bytes") == true)
    try await rig.finish()
  }
}
