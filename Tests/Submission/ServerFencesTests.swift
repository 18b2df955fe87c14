import Coverage
import Testing

@testable import Store
@testable import Submission

/// The decision about a batch from the server's histories.
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
    "when the server holds as many fences of its test as were sent, then the batch has arrived, in any case of the UUID"
  )
  func arrived() {
    let held = self.held(["t1": 3])
    #expect(
      held.finding(for: .sample(1, state: .sending, test: "T1", fences: 3), isForced: false) == .arrived(fences: 3))
    // A fence of it was damaged since.
    let damaged = Batch.sample(1, state: .sending, test: "T1", sentFences: 3, fences: 2)
    #expect(held.finding(for: damaged, isForced: false) == .arrived(fences: 3))
  }

  @Test("when the server holds no fence of its test, then the batch is absent and may be sent again")
  func absent() {
    for tests in [[:], ["T1": 0], ["T2": 3]] {
      #expect(held(tests).finding(for: .sample(1, state: .sending, test: "T1", attempt: 1), isForced: false) == .absent)
    }
  }

  @Test(
    "when the row of a batch was lost, then what the server has of the session's test beyond the store's marks decides")
  func surplus() {
    var held = self.held(["t1": 40])
    let lost = Batch.sample(1, state: .sending, client: "C", fences: 27)
    held.knownTests = ["t1"]
    #expect(
      held.finding(forDoubtful: lost, isForced: false) == .absent, "the control: without the marks, it would go again")
    held.fencesByTest = [lost.session: ["t1": 13]]
    #expect(held.finding(forDoubtful: lost, isForced: false) == .arrived(fences: 27))
    held.fencesByTest = [lost.session: ["t1": 20]]
    guard case .quarantine = held.finding(forDoubtful: lost, isForced: false) else {
      Issue.record("not quarantined")
      return
    }
    held.fencesByTest = [lost.session: ["t1": 40]]
    #expect(held.finding(forDoubtful: lost, isForced: false) == .absent)
  }

  @Test("when another batch of the session names the test, then the fences that the server has are its own")
  func testOfAnother() {
    var held = self.held(["t1": 400])
    held.knownTests = ["t1"]
    for fences in [400, 37] {
      let (named, lost) = (
        Batch.sample(1, session: 7, state: .sending, test: "T1", client: "C", fences: 400),
        Batch.sample(2, session: 7, state: .sending, client: "C", fences: fences)
      )
      held.fencesByTest = [7: ["t1": 400]]
      #expect(held.finding(forDoubtful: named, isForced: false) == .arrived(fences: 400))
      #expect(held.finding(forDoubtful: lost, isForced: false) == .absent, "it never left")
    }
  }

  @Test(
    "when the rows of two batches of the right size were lost, then neither counts as arrived, and neither goes again")
  func twoOfOneSize() {
    var held = self.held(["t1": 40])
    held.knownTests = ["t1"]
    held.fencesByTest = [7: ["t1": 13]]
    held.lostSizes = [7: [27, 27]]
    for id in 1...2 {
      let lost = Batch.sample(Int64(id), session: 7, state: .sending, client: "C", fences: 27)
      guard case .quarantine = held.finding(forDoubtful: lost, isForced: false) else {
        Issue.record("not quarantined")
        continue
      }
    }
    held.lostSizes = [7: [27, 5]]
    let lost = Batch.sample(1, session: 7, state: .sending, client: "C", fences: 27)
    #expect(held.finding(forDoubtful: lost, isForced: false) == .arrived(fences: 27))
  }

  @Test("when the server holds another number of fences, then the batch is quarantined, and only force sends it again")
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
    "when a batch is quarantined because the server may have it, then no history without it sends it again, only force does"
  )
  func quarantinedInDoubt() {
    let left = Batch.sample(1, state: .quarantined, test: "T1", client: "C", attempt: 1, doubt: "?", fences: 3)
    let lost = Batch.sample(2, state: .quarantined, doubt: "?")
    for (history, batch) in [(held([:], strangers: ["C"]), left), (held(["T1": 0]), left), (held([:]), lost)] {
      #expect(history.finding(forDoubtful: batch, isForced: false) == .staysQuarantined(fences: nil))
      #expect(history.finding(forDoubtful: batch, isForced: true) == .absent)
    }
    #expect(held(["T1": 3]).finding(forDoubtful: left, isForced: false) == .arrived(fences: 3))
    let refused = Batch.sample(1, state: .quarantined, test: "T1", client: "C", attempt: 1)
    #expect(held([:], strangers: ["C"]).finding(forDoubtful: refused, isForced: false) == .absent)
  }

  @Test("when the history lists a test twice, or without a number of fences, then the batch is not taken for absent")
  func unclearHistory() {
    var reading = HistoryReading(cursor: nil, oldest: 0)
    let items = [("A", 3), ("A", 0), ("B", nil)].map { HistoryItem(testUUID: $0.0, time: nil, fences: $0.1) }
    reading.append(HistoryPage(entries: 3, items: items))
    #expect(!reading.isUnreadable)
    var nameless = HistoryReading(cursor: nil, oldest: 0)
    #expect(!nameless.isUnreadable)
    nameless.append(HistoryPage(entries: 1, items: []))
    #expect(nameless.isUnreadable)
    var held = ServerFences()
    held.add(reading)
    #expect(held.finding(for: .sample(1, test: "A", fences: 3), isForced: false) == .arrived(fences: 3))
    #expect(
      held.finding(for: .sample(2, test: "B", fences: 3), isForced: false)
        == .quarantine(reason: "the server has test B, and does not say how many of its fences"))
    #expect(held.finding(for: .sample(2, state: .quarantined, test: "B"), isForced: true) == .absent)
  }

  @Test(
    "when the server knows neither test nor client, then a batch that may have been sent is quarantined, a new one is not"
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

  @Test("when a batch lost its row, then an unknown test in the history with enough fences quarantines it")
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
    #expect(
      held([:]).finding(forDoubtful: .sample(1, state: .sending), isForced: false) != .absent,
      "no client whose history could be read")
  }
}
