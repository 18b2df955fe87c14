import Coverage
import Logging
import NIOPosix
import TestSupport
import Testing

@testable import Positioning

@Suite(.timeLimit(.minutes(5))) struct GPSDTests {
  private static let quiet = Logger.quiet

  private static let quick: Timings = {
    var timings = Timings()
    (timings.firstRetry, timings.longestRetry) = (.milliseconds(5), .milliseconds(20))
    return timings
  }()

  private func client(_ port: Int, _ timings: Timings = quick, staleAfter: Duration = .seconds(5)) -> GPSD {
    GPSD(configuration: .init(port: port, staleAfter: staleAfter), timings: timings, logger: Self.quiet)
  }

  /// The events up to the first for which `isLast` is true.
  private func events(
    of client: GPSD, until isLast: (PositioningEvent) -> Bool
  ) async -> [PositioningEvent] {
    var events: [PositioningEvent] = []
    for await event in client.events() {
      events.append(event)
      if isLast(event) { break }
    }
    return events
  }

  private func isFix(_ event: PositioningEvent) -> Bool {
    if case .fix = event { true } else { false }
  }

  private func hasPlace(_ event: PositioningEvent) -> Bool {
    if case .fix(let fix) = event { fix.fix.coordinate != nil } else { false }
  }

  @Test func whenGPSDWorks_thenAFixComesAndTheWatchWasOneWrite() async throws {
    let server = try await FakeGPSD.start([.working(FakeGPSD.Script.position(48.2))])
    let events = await events(of: client(server.port), until: isFix)
    #expect(
      events.statuses == [
        .connecting, .devices(["gps0"]), .connected(release: "3.22"), .positioned(device: "gps0"),
      ])
    #expect(events.fixes.map(\.fix.coordinate?.latitude) == [48.2])
    #expect(await server.commands.first { _ in true } == "?WATCH={\"enable\":true,\"json\":true};\n")
    await server.stop()
  }

  @Test func whenWritesAreSplitAnywhere_thenTheFixIsTheSame() async throws {
    var script = FakeGPSD.Script.working(FakeGPSD.Script.position(48.2))
    script.greeting = script.greeting.flatMap { $0.map(String.init) }
    script.answers = script.answers.map { $0.flatMap { $0.map(String.init) } }
    let server = try await FakeGPSD.start([script])
    let events = await events(of: client(server.port), until: isFix)
    #expect(events.fixes.map(\.fix.coordinate?.latitude) == [48.2])
    await server.stop()
  }

  @Test func whenTheEchoIsWrong_thenTheClientAsksAgainAndGetsItsFix() async throws {
    var script = FakeGPSD.Script.working(FakeGPSD.Script.position(48.2))
    script.answers = [[FakeGPSD.Script.badEcho]] + script.answers
    let server = try await FakeGPSD.start([script])
    let events = await events(of: client(server.port), until: isFix)
    #expect(events.fixes.count == 1)
    #expect(!events.statuses.contains { if case .disconnected = $0 { true } else { false } })
    await server.stop()
  }

  @Test func whenGPSDIsFull_thenTheClientReportsItAndComesBack() async throws {
    let full = FakeGPSD.Script(greeting: [], hangsUpAfterGreeting: true)
    let server = try await FakeGPSD.start([full, full, .working(FakeGPSD.Script.position(48.2))])
    let events = await events(of: client(server.port), until: isFix)
    // On a busy machine, the client may report that there is no fix yet.
    #expect(
      events.statuses.filter { $0 != .noFix } == [
        .connecting, .disconnected(reason: "gpsd is full or not ready (it closed the connection without an answer)"),
        .devices(["gps0"]), .connected(release: "3.22"), .positioned(device: "gps0"),
      ])
    await server.stop()
  }

  @Test func whenGPSDNeverGreets_thenTheClientTriesAgain() async throws {
    var timings = Self.quick
    timings.greeting = .milliseconds(40)
    let server = try await FakeGPSD.start([.init(greeting: []), .working(FakeGPSD.Script.position(48.2))])
    let events = await events(of: client(server.port, timings), until: isFix)
    #expect(events.statuses.contains(.disconnected(reason: "no answer in 0.04 s")))
    await server.stop()
  }

  @Test func whenTheStreamFallsSilent_thenTheClientConnectsAgain() async throws {
    var timings = Self.quick
    (timings.silence, timings.answer) = (.milliseconds(40), .milliseconds(40))
    let server = try await FakeGPSD.start([.working(), .working(FakeGPSD.Script.position(48.2))])
    let events = await events(of: client(server.port, timings), until: isFix)
    #expect(
      events.statuses.contains(
        .disconnected(reason: "silent for 0.04 s, and no answer to a question in 0.04 s")))
    await server.stop()
  }

  @Test func `when the receiver is silent, then gpsd's answer to a question keeps the connection`() async throws {
    var timings = Self.quick
    (timings.silence, timings.answer) = (.milliseconds(20), .seconds(30))
    var script = FakeGPSD.Script.working()
    script.answers += [[#"{"class":"DEVICES","devices":[]}"# + "\r\n"], [FakeGPSD.Script.position(48.2)]]
    let server = try await FakeGPSD.start([script])
    let events = await events(of: client(server.port, timings), until: isFix)
    #expect(!events.statuses.contains { if case .disconnected = $0 { true } else { false } })
    #expect(await server.commands.first { $0 != GPSDConversation.watch } == "?DEVICES;\n")
    await server.stop()
  }

  @Test func whenGPSDIsRestarted_thenFixesGoOn() async throws {
    var dying = FakeGPSD.Script.working(FakeGPSD.Script.position(48.2, second: 1))
    dying.hangsUpAfterAnswers = true
    let server = try await FakeGPSD.start([dying, .working(FakeGPSD.Script.position(48.3, second: 2))])
    var fixes = 0
    let events = await events(of: client(server.port)) { event in
      if hasPlace(event) { fixes += 1 }
      return fixes == 2
    }
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == [48.2, 48.3])
    #expect(events.statuses.contains(.disconnected(reason: "gpsd closed the connection")))
    await server.stop()
  }

  @Test func whenTheReceiverGoesSilent_thenALostFixComesAndTheConnectionStays() async throws {
    let server = try await FakeGPSD.start([.working(FakeGPSD.Script.position(48.2))])
    let events = await events(of: client(server.port, staleAfter: .milliseconds(60))) { event in
      if case .fix(let fix) = event { fix.fix == .lost } else { false }
    }
    #expect(events.fixes.map { $0.fix == .lost } == [false, true])
    #expect(!events.statuses.contains { if case .disconnected = $0 { true } else { false } })
    await server.stop()
  }

  @Test func whenThePortIsClosed_thenTheReasonIsClearAndReportedOnce() async throws {
    let port = 1
    let events = await events(of: client(port)) { if case .status(.disconnected) = $0 { true } else { false } }
    #expect(
      events.statuses == [
        .connecting, .disconnected(reason: "cannot connect to 127.0.0.1:\(port): Connection refused"),
      ])
  }

  @Test func whenTheNameHasAddressesOfBothFamilies_thenTheOneThatAnswersIsFound() async throws {
    let server = try await FakeGPSD.start([.working(FakeGPSD.Script.position(48.2))])
    let byName = GPSD(
      configuration: .init(host: "localhost", port: server.port), timings: Self.quick, logger: Self.quiet)
    #expect(await events(of: byName, until: isFix).fixes.count == 1)
    await server.stop()
  }

  @Test(arguments: [nil, "positions refused: 1 not on Earth, 1 at 0,0"])
  func whenPositionsWereRefused_thenOneLineReportsThemAtTheEnd(expected: String?) async throws {
    let refused = [#""lat":91,"lon":16"#, #""lat":0,"lon":0"#].map { #"{"class":"TPV","mode":3,\#($0)}"# + "\r\n" }
    let lines = (expected == nil ? [] : refused) + [FakeGPSD.Script.position(48.2)]
    let server = try await FakeGPSD.start([.working(lines.joined())])
    let log = LogLines()
    let client = GPSD(configuration: .init(port: server.port), timings: Self.quick, logger: log.logger)
    let task = Task { await client.run { if case .fix = $0 { log.append("fix") } } }
    _ = try await eventually("a fix") { log.messages.contains("fix") ? true : nil }
    task.cancel()
    await task.value
    #expect(log.messages.filter { $0.hasPrefix("positions refused") } == [expected].compactMap(\.self))
    await server.stop()
  }

  @Test func whenTheTaskIsCancelled_thenRunReturnsAndTheCountersAreTheLastEvent() async throws {
    let server = try await FakeGPSD.start([.working(FakeGPSD.Script.position(48.2))])
    let (events, mailbox) = AsyncStream.makeStream(of: PositioningEvent.self)
    let client = client(server.port)
    let task = Task {
      await client.run { mailbox.yield($0) }
      mailbox.finish()
    }
    var last: PositioningEvent?
    for await event in events {
      last = event
      if isFix(event) { task.cancel() }
    }
    await task.value
    guard case .counters(let counters)? = last else {
      Issue.record("the last event was \(String(describing: last))")
      return
    }
    #expect((counters[.fixes], counters[.tpv], counters[.disconnections]) == (1, 1, 0))
    await server.stop()
  }

  @Test func whenAnAlarmIsFarAway_thenItComesEarly_sinceTheClockOfTheLoopStandsStillInASuspend() async {
    let (inputs, mailbox) = AsyncStream.makeStream(of: SocketInput.self)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    var socket = GPSDSocket(host: "127.0.0.1", port: 1, timings: Self.quick, loop: loop) { input in
      mailbox.yield(input)
      return true
    }
    socket.alarm(at: .now + .seconds(86_400))
    guard let input = await inputs.first(where: { _ in true }), case .alarm = input else {
      Issue.record("no alarm")
      return
    }
    guard case .tick = socket.admit(input) else {
      Issue.record("no tick")
      return
    }
  }
}
