import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

@Suite struct SpeedTestOutboxTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private static let url = "https://user:secret@host/RMBTControlServer"

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private var tests: SpeedTestOutbox { store.speedTests }

  private func start(_ uuid: String, at seconds: Int = 0, to url: String = Self.url) -> SpeedTestOutbox.Start {
    var start = SpeedTestOutbox.Start(
      controlServer: url, clientUUID: "C", testUUID: uuid, token: "a_1_b_#v2#c",
      started: .sampleStart.later(by: .seconds(seconds)))
    (start.loopUUID, start.number, start.drive) = ("L1", 3, 9)
    start.place = Coordinate(latitude: 48.2, longitude: 16.3)
    start.technology = Technology("4G/LTE")
    return start
  }

  @discardableResult
  private func ended(_ uuid: String, at seconds: Int = 0, _ outcome: StoredSpeedTest.Outcome = .completed) async throws
    -> Int64
  {
    let id = try await tests.begin(start(uuid, at: seconds))
    try await tests.end(
      id,
      .init(
        outcome, at: .sampleStart.later(by: .seconds(seconds + 20)), figures: outcome == .completed ? .sample() : nil))
    return id
  }

  private func stored(_ id: Int64) throws -> StoredSpeedTest {
    try #require(try StoreReader(store).speedTests().first { $0.id == id })
  }

  @Test("when a test begins and ends, then all of it is read back, and the server's password is not in the store")
  func roundTrip() async throws {
    let id = try await tests.begin(start("T"))
    let running = try stored(id)
    #expect(running.state == .measuring && running.outcome == nil && running.figures == nil)
    try await tests.end(id, .init(.completed, at: .sampleStart.later(by: .seconds(20)), figures: .sample()))
    let test = try stored(id)
    #expect(test.controlServer == "https://host/RMBTControlServer" && test.token == "a_1_b_#v2#c")
    #expect(test.loopUUID == "L1" && test.number == 3 && test.drive == 9 && test.clientUUID == "C")
    #expect(test.place == Coordinate(latitude: 48.2, longitude: 16.3) && test.technology == Technology("4G/LTE"))
    #expect(test.state == .waiting && test.outcome == .completed && test.figures == .sample())
  }

  @Test(
    "when the reading in a test has no technology, then the test has none, because its cell and signal are that reading's"
  )
  func technologyLost() async throws {
    let id = try await tests.begin(start("T"))
    var figures = SpeedTestFigures.sample()
    figures.signal = -91
    try await tests.end(id, .init(.completed, at: .sampleStart, figures: figures))
    #expect(try stored(id).technology == nil)
  }

  @Test("when the server gives a UUID a second time, then the second test does not begin")
  func usedTwice() async throws {
    try await ended("T")
    await #expect(throws: StoreError.self) { try await tests.begin(start("T")) }
    #expect(try StoreReader(store).speedTests().count == 1)
  }

  @Test("when a test has ended, then a second end changes nothing")
  func endedTwice() async throws {
    let id = try await ended("T")
    try await tests.end(id, .init(.aborted, at: .sampleStart, figures: nil, error: "late"))
    #expect(try stored(id).outcome == .completed)
  }

  @Test("when a running test belongs to another process, then it is aborted; the process's own test continues")
  func interrupted() async throws {
    let id = try await tests.begin(start("T"))
    #expect(try await tests.endInterrupted() == 0)
    #expect(try stored(id).state == .measuring)
    try await store.database.write { try $0.execute(sql: "UPDATE speed_test SET writer = 'another'") }
    #expect(try await tests.endInterrupted() == 1)
    let test = try stored(id)
    #expect(test.state == .waiting && test.outcome == .aborted && test.error == "the program ended during the test")
    #expect(test.ended == test.started, "its end is unknown")
  }

  @Test(
    "when tests wait, then the newest comes first, one that failed comes last, and those of another server are left out"
  )
  func order() async throws {
    let first = try await ended("A", at: 0)
    let second = try await ended("B", at: 100)
    let third = try await ended("C", at: 200)
    let other = try await tests.begin(start("D", to: "https://other/"))
    try await tests.end(other, .init(.failed, at: .sampleStart, figures: nil))
    try await tests.beginSending(third, .result, at: .sampleStart)
    try await tests.noteTrouble(third)
    #expect(try await tests.unsent(at: Self.url).map(\.id) == [second, first, third])
    #expect(try await tests.unsent(at: "https://host/RMBTControlServer").count == 3, "the key has no password")
    #expect(try await tests.unsentElsewhere(than: Self.url) == 1)
    #expect(try StoreReader(store).unsentSpeedTests() == 4)
  }

  @Test("when a test goes through the states, then each state is stored, and attempts are counted")
  func states() async throws {
    let id = try await ended("T")
    try await tests.beginSending(id, .result, at: .sampleStart)
    #expect(try stored(id).state == .sending && stored(id).attempt == 1)
    try await tests.release(id, .result)
    #expect(try stored(id).state == .waiting)
    try await tests.beginSending(id, .result, at: .sampleStart)
    try await tests.quarantine(id, .result, reason: "no", at: .sampleStart)
    #expect(try stored(id).state == .quarantined && stored(id).reason == "no" && stored(id).attempt == 2)
    #expect(try await tests.unsent(at: Self.url).isEmpty)
    #expect(try await tests.unsent(at: Self.url, withQuarantined: true).map(\.id) == [id])
    try await tests.markSubmitted(id, .result, at: .sampleStart)
    #expect(try stored(id).state == .submitted && stored(id).reason == nil)
  }

  @Test("when a test has results of QoS tests, then it waits until both are sent")
  func qos() async throws {
    let id = try await tests.begin(start("T"))
    try await tests.end(id, .init(.completed, at: .sampleStart, figures: .sample()))
    #expect(try stored(id).qosState == nil)
    let results = #"[{"test_type":"dns"}]"#
    try await tests.add(qos: results, to: id)
    #expect(try stored(id).qosState == .waiting && stored(id).qos == results)
    try await tests.markSubmitted(id, .result, at: .sampleStart)
    #expect(try await tests.unsent(at: Self.url).map(\.id) == [id])
    try await tests.markSubmitted(id, .qos, at: .sampleStart)
    #expect(try await tests.unsent(at: Self.url).isEmpty)
  }

  @Test("when a bit of a row flips, then the test is neither sent nor listed, and counts as damaged")
  func damaged() async throws {
    let id = try await ended("T")
    try await store.damage("UPDATE speed_test SET sent_at = 1 WHERE id = \(id)")
    #expect(try await tests.unsent(at: Self.url).isEmpty)
    #expect(try StoreReader(store).speedTests().isEmpty)
    #expect(try StoreReader(store).damagedRows() == 1)
  }

  @Test("when figures come from a later build in another form, then the test is read without them")
  func unknownFigures() async throws {
    let id = try await ended("T")
    try await store.database.write { try $0.execute(sql: "UPDATE speed_test SET figures = '{}'") }
    #expect(try stored(id).figures == nil && stored(id).state == .waiting)
  }

  @Test("when a test is forgotten, then it is deleted, but a running test stays")
  func forget() async throws {
    let id = try await ended("T")
    let running = try await tests.begin(start("U"))
    #expect(try await tests.forget(id))
    #expect(try await !tests.forget(id))
    #expect(try await !tests.forget(running))
    #expect(try StoreReader(store).speedTests().map(\.id) == [running])
  }

  @Test("when tests are old, then sent ones go; unsent and refused ones only if a second clock agrees")
  func retention() async throws {
    let sent = try await ended("A")
    let waiting = try await ended("B")
    let refused = try await ended("C")
    try await tests.markSubmitted(sent, .result, at: .sampleStart)
    try await tests.quarantine(refused, .result, reason: "no", at: .sampleStart)
    let withQoS = [try await ended("D"), try await ended("E")]
    for test in withQoS {
      try await tests.add(qos: "[]", to: test)
      try await tests.markSubmitted(test, .result, at: .sampleStart)
    }
    try await tests.quarantine(withQoS[0], .qos, reason: "its answer was lost", at: .sampleStart)
    let later = WallTime.sampleStart.later(by: .seconds(40 * 86_400))
    let soon = WallTime.sampleStart.later(by: .seconds(86_400))
    #expect(try await store.cleanup.run(Retention(), now: soon, agreement: .agrees, except: nil).speedTests == 0)
    let tenDaysWrong = WallTime.sampleStart.later(by: .seconds(10 * 86_400))
    #expect(
      try await store.cleanup.run(Retention(), now: tenDaysWrong, agreement: .agrees, except: nil).speedTests == 0)
    #expect(try await store.cleanup.run(Retention(), now: later, agreement: .contradicts, except: nil).speedTests == 0)
    #expect(try await store.cleanup.run(Retention(), now: later, agreement: .silent, except: nil).speedTests == 1)
    #expect(try StoreReader(store).speedTests().map(\.id) == [waiting, refused] + withQoS)
    #expect(try await store.cleanup.run(Retention(), now: later, agreement: .agrees, except: nil).speedTests == 4)
  }

  @Test("when the loop's state is stored, then the next process reads the latest; a damaged state is ignored")
  func loop() async throws {
    #expect(try await store.loop.memory() == nil)
    try await store.loop.persist("1")
    try await store.loop.persist("2")
    #expect(try await store.loop.memory() == "2")
    try await store.damage("UPDATE loop SET memory = '3'")
    #expect(try await store.loop.memory() == nil)
  }
}
