import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Requests through the gate, in every order that matters, without a server.
struct GatedServerTests {
  private static let tooMany = ServerFailure.tooManyRequests(retryAfter: nil)

  // MARK: Writes

  @Test("when a write is slow or fails, then later writes still come after it")
  func order() async throws {
    let (paper, door) = (Paper(), Door())
    var writes = OrderedWrites()
    let first = writes.begin {
      await door.pass()
      await paper.write("first")
      throw CancellationError()
    }
    let others = ["second", "third"].map { word in writes.begin { await paper.write(word) } }
    // Time for a write that does not wait for the first one.
    for _ in 0..<1000 { await Task.yield() }
    #expect(await paper.words.isEmpty)
    await door.open()
    for other in others { try await other.value }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(await paper.words == ["first", "second", "third"])
  }

  @Test("when many requests end at the same time, then the breaker on disk equals the breaker in memory")
  func many() async throws {
    var policy = ServerGate.Policy()
    policy.breaker.threshold = 1000
    let rig = try GateRig(policy: policy) { step, count in
      if step == .coverageRequest, count % 3 != 0 { throw Self.tooMany }
    }
    for _ in 0..<5 {
      await withTaskGroup { group in
        // Some end with 429.
        for _ in 0..<8 { group.addTask { _ = try? await rig.requestTest() } }
      }
      let stored = try rig.storedGate(policy: policy)
      #expect(await rig.server.status.breaker.refusals == stored.breaker.refusals)
    }
    #expect(rig.spy.requests.count { $0 == .coverageRequest } == 40)
  }

  @Test("when the store rejects the gate's state, then the next request writes it")
  func failingStore() async throws {
    let rig = try GateRig { step, count in
      guard step == .coverageRequest else { return }
      if count < 2 { throw Self.tooMany } else { throw CancellationError() }
    }
    try await rig.store.database.write {
      try $0.execute(sql: "CREATE TRIGGER fault BEFORE INSERT ON breaker BEGIN SELECT RAISE(ABORT, 'a fault'); END")
    }
    for _ in 0..<2 { await #expect(throws: ServerFailure.self) { try await rig.requestTest() } }
    #expect(rig.lines.all.count { $0.contains("cannot store the circuit breaker's state") } == 1)
    try await rig.store.database.write { try $0.execute(sql: "DROP TRIGGER fault") }
    await #expect(throws: CancellationError.self) { try await rig.requestTest() }
    #expect(try rig.storedGate().breaker.refusals == 2)
  }

  @Test("when the breaker opens while the store fails, then the log still reports it")
  func openingUnwritten() async throws {
    let rig = try GateRig { step, _ in if step == .coverageRequest { throw Self.tooMany } }
    try await rig.store.database.write {
      try $0.execute(sql: "CREATE TRIGGER fault BEFORE INSERT ON breaker BEGIN SELECT RAISE(ABORT, 'a fault'); END")
    }
    for _ in 0..<3 { await #expect(throws: ServerFailure.self) { try await rig.requestTest() } }
    #expect(rig.lines.all.count { $0.contains("circuit breaker: open") } == 1)
  }

  // MARK: Without a request

  @Test("when a trial succeeds without sending a request, then the breaker does not close")
  func emptyTrial() async throws {
    let rig = try GateRig { step, count in
      if step == .coverageRequest, count < 3 { throw Self.tooMany }
    }
    for _ in 0..<3 { await #expect(throws: ServerFailure.self) { try await rig.requestTest() } }
    rig.time.turn(by: .seconds(34))
    let trial = GatedServer.Exchange()
    try await rig.server.admit(trial)
    #expect(await rig.server.status.breaker.state == .halfOpen)
    await rig.server.end(trial, .success)
    #expect(await rig.server.status.breaker.state == .open)
    rig.time.turn(by: .seconds(34))
    _ = try await rig.requestTest()
    #expect(await rig.server.status.breaker.state == .closed)
  }

  @Test("when a forced call succeeds without sending a request, then the wait that it ignored continues")
  func emptyForced() async throws {
    let rig = try GateRig { _, _ in
      throw ServerFailure.serverTrouble(status: 503, message: "", retryAfter: .seconds(100))
    }
    await #expect(throws: ServerFailure.self) { try await rig.requestTest() }
    let forced = GatedServer.Exchange()
    try await rig.server.admit(forced, .forced)
    await rig.server.end(forced, .success)
    #expect(await rig.server.hold(.commanded) == .retryAfter(.seconds(100)))
  }

  // MARK: Asking again

  @Test(
    "when another request meets a Retry-After while a drive's waits for the registration, then the drive's does not leave"
  )
  func waitMeanwhile() async throws {
    let (registering, requesting) = (Door(), Door())
    let rig = try GateRig { step, count in
      if step == .settings, count == 1 { await registering.pass() }
      guard step == .coverageRequest else { return }
      await requesting.pass()
      throw ServerFailure.tooManyRequests(retryAfter: .seconds(60))
    }
    let slow = Task { try await rig.requestTest() }
    await requesting.hasWaiter()
    await rig.registration.refuse()
    let other = Task { try await rig.requestTest() }
    await registering.hasWaiter()
    await requesting.open()
    await #expect(throws: ServerFailure.self) { try await slow.value }
    await registering.open()
    await #expect(throws: ServerGate.Hold.retryAfter(.seconds(60))) { try await other.value }
    #expect(rig.spy.requests == [.settings, .coverageRequest, .settings])
  }

  @Test(
    "when a registration meets a Retry-After while another one waits for its turn, then the other one does not leave")
  func waitInTurn() async throws {
    let registering = Door()
    let rig = try GateRig { step, _ in
      await registering.pass()
      throw ServerFailure.serverTrouble(status: 503, message: "", retryAfter: .seconds(60))
    }
    let first = Task { try await rig.requestTest() }
    await registering.hasWaiter()
    let second = Task { try await rig.requestTest() }
    await registering.open()
    await #expect(throws: ServerFailure.self) { try await first.value }
    await #expect(throws: ServerGate.Hold.self) { try await second.value }
    #expect(rig.spy.requests == [.settings])
  }

  @Test("when the gate closes during an exchange, then no further request of the exchange leaves, of any kind")
  func everyKind() async throws {
    let rig = try GateRig { step, count in
      if step == .coverageRequest, count < 3 { throw Self.tooMany }
    }
    let exchange = GatedServer.Exchange()
    try await rig.server.admit(exchange)
    for _ in 0..<3 { await #expect(throws: ServerFailure.self) { try await rig.requestTest() } }
    let before = rig.spy.requests.count
    let request = CoverageRequest(clientUUID: "x", loopUUID: nil, time: .rigStart)
    let result = rig.server.device.prepare(
      CoverageResult(clientUUID: "x", testUUID: "T", driveStarted: .rigStart, anchor: .start, fences: []))
    await #expect(throws: ServerGate.Hold.self) {
      try await rig.server.send(exchange) { try await $0.settings(clientUUID: nil, by: .kept) }
    }
    await #expect(throws: ServerGate.Hold.self) {
      try await rig.server.send(exchange) { try await $0.requestCoverage(request, by: .kept) }
    }
    await #expect(throws: ServerGate.Hold.self) { try await rig.server.send(exchange) { try await $0.submit(result) } }
    await #expect(throws: ServerGate.Hold.self) {
      try await rig.server.send(exchange) { try await $0.history(clientUUID: "x", offset: 0, limit: 1) }
    }
    #expect(rig.spy.requests.count == before)
    rig.time.turn(by: .seconds(34))
    try await rig.server.send(exchange) { try await $0.submit(result) }
    #expect(rig.spy.requests.last == .coverageResult)
  }

  @Test(
    "when a request is forced, then an earlier wait does not hold it, but its own Retry-After holds the next request")
  func forced() async throws {
    let rig = try GateRig { step, _ in throw ServerFailure.tooManyRequests(retryAfter: .seconds(100)) }
    await #expect(throws: ServerFailure.self) { try await rig.requestTest() }
    let exchange = GatedServer.Exchange()
    await #expect(throws: ServerGate.Hold.self) { try await rig.server.admit(exchange, .commanded) }
    try await rig.server.admit(exchange, .forced)
    await #expect(throws: ServerFailure.self) {
      try await rig.server.send(exchange) { try await $0.settings(clientUUID: nil, by: .kept) }
    }
    await #expect(throws: ServerGate.Hold.self) {
      try await rig.server.send(exchange) { try await $0.settings(clientUUID: nil, by: .kept) }
    }
    #expect(rig.spy.requests.count == 2)
  }

  // MARK: The spread

  @Test("when a commanded pass begins, then a background pass does not delay it by the spread, waiting already or not")
  func spread() async throws {
    for isBegun in [true, false] {
      let rig = try GateRig()
      rig.time.holdsSleepers = true
      if !isBegun { await rig.server.commandedPassBegins() }
      let background = Task { try await rig.server.admit(GatedServer.Exchange(), .background) }
      if isBegun {
        _ = try await eventually("the wait for the spread") { rig.time.sleeps.isEmpty ? nil : true }
        await rig.server.commandedPassBegins()
      }
      try await background.value
      #expect(rig.time.sleeps == (isBegun ? [.seconds(30)] : []))
    }
  }

  @Test("when a pass is cancelled while it waits for its share of the spread, then it ends, and no request leaves")
  func cancelledSpread() async throws {
    let rig = try GateRig()
    rig.time.holdsSleepers = true
    let background = Task { try await rig.server.admit(GatedServer.Exchange(), .background) }
    _ = try await eventually("the wait for the spread") { rig.time.sleeps.isEmpty ? nil : true }
    background.cancel()
    await #expect(throws: CancellationError.self) { try await background.value }
    #expect(rig.spy.requests.isEmpty)
  }

  // MARK: Registration

  @Test("when requests run concurrently, then they share one registration")
  func oneRegistration() async throws {
    let rig = try GateRig()
    try await withThrowingTaskGroup { group in
      for _ in 0..<5 { group.addTask { _ = try await rig.requestTest() } }
      try await group.waitForAll()
    }
    #expect(rig.spy.requests.count { $0 == .settings } == 1)
    #expect(try await rig.store.servers.clientUUID(at: rig.spy.url) == "client 0")
  }

  @Test("when this device is registered, then a drive's request waits for no request of a pass, which may hang")
  func hangingPass() async throws {
    let door = Door()
    let rig = try GateRig { step, _ in if step == .settings { await door.pass() } }
    try await rig.store.servers.setClientUUID("an older client", at: rig.spy.url)
    let pass = Task { try await rig.registration.clientUUID(for: GatedServer.Exchange()) }
    await door.hasWaiter()
    _ = try await rig.requestTest()
    #expect(rig.spy.requests == [.settings, .coverageRequest])
    await door.open()
    #expect(try await pass.value == "an older client")
  }

  @Test("when several links register this device, then each by itself, and the first answer is the client of all")
  func registrationByLink() async throws {
    let door = Door()
    let rig = try GateRig { step, count in
      guard step == .settings, count == 0 else { return }
      await door.pass()
    }
    let silent = Task { try await rig.requestTest(by: "silent0") }
    await door.hasWaiter()
    _ = try await rig.requestTest(by: "good0")
    #expect(rig.spy.registrations == [.fresh(interface: "silent0"), .fresh(interface: "good0")])
    let first = try await rig.store.servers.clientUUID(at: rig.spy.url)
    await door.open()
    _ = try await silent.value
    #expect(first != nil)
    #expect(try await rig.store.servers.clientUUID(at: rig.spy.url) == first)
  }

  @Test("when the server does not know the device even after a new registration, then the request is retried only once")
  func lastingStranger() async throws {
    let rig = try GateRig { step, _ in
      if step == .coverageRequest { throw ServerFailure.refused(status: 400, message: "No client found by id x") }
    }
    await #expect(throws: ServerFailure.self) { try await rig.requestTest() }
    #expect(rig.spy.requests == [.settings, .coverageRequest, .settings, .coverageRequest])
  }

  @Test("when the server does not know the loop of a speed test, then the test says that it is in a new loop")
  func unknownLoop() async throws {
    let rig = try GateRig { step, count in
      if step == .result, count == 0 { throw ServerFailure.refused(status: 400, message: "No valid loop UUID") }
    }
    for isInNewLoop in [true, false] {
      let granted = try await rig.tests.requestSpeedTest { client in
        var request = SpeedTestRequest(clientUUID: client, time: .rigStart)
        request.loop = .init(uuid: "Lgone", number: 2, count: 9, every: .seconds(300), distance: nil)
        return request
      }
      #expect(granted.isInNewLoop == isInNewLoop)
    }
    #expect(rig.spy.requests.count { $0 == .result } == 3)
  }
}

/// Records words in order.
private actor Paper {
  private(set) var words: [String] = []

  func write(_ word: String) { words.append(word) }
}

/// Blocks callers until opened.
private actor Door {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var watching: [CheckedContinuation<Void, Never>] = []

  func pass() async {
    guard !isOpen else { return }
    await withCheckedContinuation { continuation in
      waiting.append(continuation)
      for watcher in watching { watcher.resume() }
      watching = []
    }
  }

  /// Returns when a caller waits.
  func hasWaiter() async {
    guard waiting.isEmpty else { return }
    await withCheckedContinuation { watching.append($0) }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
