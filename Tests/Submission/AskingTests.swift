import ControlServer
import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import DriveStore
@testable import Submission

/// Requests beside the passes, and the breaker that they share.
@Suite(.serialized)
struct AskingTests {
  /// What was written, and whether the first write may end.
  private actor Paper {
    private(set) var words: [String] = []
    private var waiting: CheckedContinuation<Void, Never>?
    private var isOpen = false

    func write(_ word: String) { words.append(word) }
    func wait() async { if !isOpen { await withCheckedContinuation { waiting = $0 } } }
    func open() {
      isOpen = true
      waiting?.resume()
    }
  }

  @Test("when a write is slow, or fails, then those that were asked for later come after it")
  func order() async throws {
    let paper = Paper()
    var writes = OrderedWrites()
    let first = writes.begin {
      await paper.wait()
      await paper.write("first")
      throw CancellationError()
    }
    let others = ["second", "third"].map { word in writes.begin { await paper.write(word) } }
    // Time for one that does not wait.
    for _ in 0..<1000 { await Task.yield() }
    #expect(await paper.words.isEmpty)
    await paper.open()
    for other in others { try await other.value }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(await paper.words == ["first", "second", "third"])
  }

  @Test("when many requests end at the same time, then the breaker on disk is the one in memory")
  func many() async throws {
    let rig = try await SendingRig()
    let sender = try rig.sender { $0.gate.breaker.threshold = 1000 }
    for round in 0..<5 {
      await withTaskGroup { group in
        for number in 0..<8 {
          group.addTask {
            // That some end with 429 is what is wanted.
            _ = try? await sender.ask { _ in
              if (number + round) % 3 != 0 { throw ServerFailure.tooManyRequests(retryAfter: nil) }
            }
          }
        }
      }
      var policy = ServerGate.Policy()
      policy.breaker.threshold = 1000
      let stored = try ServerGate.stored(
        in: StoreReader(rig.store), server: rig.client.url, policy: policy, clock: rig.time.clock)
      #expect(await sender.status.breaker.refusals == stored.breaker.refusals)
    }
    try await rig.finish()
  }

  // MARK: One gate for all

  @Test(
    "when a drive's request is told how long to wait, then nothing else leaves before, in the next process neither",
    arguments: [429, 503])
  func retryAfter(status: Int) async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    let sender = try rig.sender()
    _ = try await sender.ask { _ in }
    try await rig.tool.setFault("\(status)-retry-after:60", on: "coverageRequest", count: 1)
    await #expect(throws: ServerFailure.self) {
      try await sender.ask { client in
        try await rig.client.requestCoverage(CoverageRequest(clientUUID: client, loopUUID: nil, time: .sampleStart))
      }
    }
    rig.time.turn(by: .seconds(59))
    let before = try await rig.paths().count
    for sender in [sender, try rig.sender()] {
      await #expect(throws: Sender.Held(hold: .retryAfter(.seconds(1)))) { try await sender.ask { _ in } }
      for urgency in [ServerGate.Urgency.background, .commanded] {
        let report = try await sender.pass(.cold, urgency: urgency)
        #expect(report.hold == .gate(.retryAfter(.seconds(1))))
        #expect(report.heldUntil == rig.time.clock.wall().later(by: .seconds(1)))
        #expect(report.sessionsKept == 1)
      }
    }
    #expect(try await rig.paths().count == before)
    #expect(try await rig.sender().pass(.cold, urgency: .forced).sessionsSent == 1)
    try await rig.finish()
  }

  @Test(
    "when another request is told to wait while a drive's waits for the registration, then that one does not leave")
  func toldMeanwhile() async throws {
    let rig = try await SendingRig()
    let sender = try rig.sender()
    let paper = Paper()
    let slow = Task {
      try await sender.ask { _ in
        await paper.write("under way")
        await paper.wait()
        throw ServerFailure.tooManyRequests(retryAfter: .seconds(60))
      }
    }
    _ = try await eventually("the other request is under way") { await paper.words.isEmpty ? nil : true }
    await sender.registration.doubt()
    try await rig.tool.setFault("slow:1", on: "settings", count: 1)
    let asking = Task { try await sender.ask { _ in await paper.write("left") } }
    _ = try await eventually("the registration is under way") { try await rig.requests("settings") == 2 ? true : nil }
    await paper.open()
    await #expect(throws: ServerFailure.self) { try await slow.value }
    await #expect(throws: Sender.Held.self) { try await asking.value }
    #expect(await paper.words == ["under way"])
    try await rig.finish()
  }

  @Test("when the server has forgotten the device, then a drive's request registers it again and gets its test")
  func forgotten() async throws {
    let rig = try await SendingRig()
    let port = try #require(URL(string: rig.tool.url)?.port)
    let sender = try rig.sender()
    let before = try await sender.ask { $0 }
    try await rig.tool.program.stop()
    let another = try await ControlServerTool(["--port", "\(port)"])
    let grant = try await sender.ask { client in
      try await rig.client.requestCoverage(
        CoverageRequest(clientUUID: client, loopUUID: nil, time: .sampleStart), isForPings: true)
    }
    #expect(try await another.tests().map { $0["uuid"] as? String } == [grant.testUUID])
    #expect(try await sender.ask { $0 } != before)
    #expect(try await rig.store.servers.clientUUID(at: rig.tool.url) != before)
    try await rig.client.shutdown()
    try await another.program.stop()
  }

  @Test(
    "when the server does not know the device even then, then the request is tried once more only")
  func lastingStranger() async throws {
    let rig = try await SendingRig()
    let sender = try rig.sender()
    let paper = Paper()
    await #expect(throws: ServerFailure.self) {
      try await sender.ask { _ in
        await paper.write("asked")
        throw ServerFailure.refused(status: 400, message: "No client found by id x")
      }
    }
    #expect(await paper.words == ["asked", "asked"])
    #expect(try await rig.requests("settings") == 2)
    try await rig.finish()
  }

  @Test(
    "when the store does not take what the gate remembers, then it is written with the next request")
  func failingMemory() async throws {
    let rig = try await SendingRig()
    let sender = try rig.sender()
    _ = try await sender.ask { _ in }
    try await rig.store.database.write {
      try $0.execute(sql: "CREATE TRIGGER fault BEFORE INSERT ON breaker BEGIN SELECT RAISE(ABORT, 'a fault'); END")
    }
    for _ in 0..<2 {
      await #expect(throws: ServerFailure.self) {
        try await sender.ask { _ in throw ServerFailure.tooManyRequests(retryAfter: nil) }
      }
    }
    #expect(rig.lines.all.count { $0.contains("does not take the circuit breaker's state") } == 1)
    try await rig.store.database.write { try $0.execute(sql: "DROP TRIGGER fault") }
    await #expect(throws: CancellationError.self) { try await sender.ask { _ in throw CancellationError() } }
    let stored = try ServerGate.stored(in: StoreReader(rig.store), server: rig.client.url, clock: rig.time.clock)
    #expect(stored.breaker.refusals == 2)
    try await rig.finish()
  }
}
