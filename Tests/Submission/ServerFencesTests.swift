import ControlServer
import Coverage
import Testing

@testable import DriveStore
@testable import Submission

/// What the server's histories say about a batch: the decision alone.
struct ServerFencesTests {
  private func held(_ tests: [String: Int], strangers: [String] = []) -> ServerFences {
    var held = ServerFences()
    var reading = HistoryReading(cursor: nil, oldest: 0)
    reading.append(
      HistoryPage(
        entries: tests.count, items: tests.map { HistoryItem(testUUID: $0.key, time: nil, fences: $0.value) }))
    held.add(reading)
    for stranger in strangers { held.add(stranger: stranger) }
    return held
  }

  @Test(
    "when the server holds as many fences of its test as were sent, then the batch has arrived, in whatever case it writes the test"
  )
  func arrived() {
    let held = self.held(["t1": 3])
    #expect(
      held.finding(for: .sample(1, state: .sending, test: "T1", fences: 3), isForced: false) == .arrived(fences: 3))
    // A fence of it was damaged since.
    let damaged = Batch.sample(1, state: .sending, test: "T1", sentFences: 3, fences: 2)
    #expect(held.finding(for: damaged, isForced: false) == .arrived(fences: 3))
  }

  @Test("when the server holds none of its test, then the batch is to be sent, again or not")
  func absent() {
    for tests in [[:], ["T1": 0], ["T2": 3]] {
      #expect(held(tests).finding(for: .sample(1, state: .sending, test: "T1", attempt: 1), isForced: false) == .absent)
    }
  }

  @Test("when the server holds another number of fences, then nothing of the batch goes again but by force")
  func otherNumber() {
    let held = self.held(["T1": 1])
    guard case .quarantine(let reason) = held.finding(for: .sample(1, test: "T1", fences: 3), isForced: true) else {
      Issue.record("not quarantined")
      return
    }
    #expect(reason == "the server has 1 fence of test T1, and 3 were sent")
    let quarantined = Batch.sample(1, state: .quarantined, test: "T1", fences: 3)
    #expect(held.finding(for: quarantined, isForced: false) == .staysQuarantined(fences: 1))
    #expect(held.finding(for: quarantined, isForced: true) == .absent)
  }

  @Test(
    "when the server knows neither the test nor the sender, then a batch that may have left is quarantined, a new one is not"
  )
  func strangers() {
    let held = self.held([:], strangers: ["C"])
    let left = Batch.sample(1, state: .sending, test: "T1", client: "C", attempt: 1)
    guard case .quarantine = held.finding(forUnstarted: left, isForced: false) else {
      Issue.record("not quarantined")
      return
    }
    #expect(held.finding(forUnstarted: .sample(1, test: "T1", client: "C"), isForced: false) == .absent)
    #expect(held.finding(forUnstarted: .sample(1, test: "T1", client: "D", attempt: 1), isForced: false) == .absent)
    #expect(
      held.finding(forDoubtful: left, isForced: false) == .absent, "its row is whole: the test may be tried again")
  }

  @Test("when a batch lost its row, then a test of the history that nothing else accounts for may be its own")
  func lostRow() {
    let lost = Batch.sample(1, state: .sending, client: "C", fences: 3)
    for (tests, known, isQuarantined) in [
      (["T1": 3], [], true), (["T1": 5], [], true), (["T1": 2], [], false), (["T1": 3], ["t1"], false),
      ([:], [], false),
    ] as [([String: Int], Set<String>, Bool)] {
      var held = self.held(tests)
      held.knownTests = known
      #expect((held.finding(forDoubtful: lost, isForced: false) != .absent) == isQuarantined, "\(tests), \(known)")
    }
    #expect(held([:], strangers: ["C"]).finding(forDoubtful: lost, isForced: false) != .absent)
    #expect(held([:]).finding(forDoubtful: .sample(1, state: .sending), isForced: false) != .absent, "nobody to ask")
  }
}
