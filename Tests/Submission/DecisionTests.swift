import Coverage
import Testing

@testable import Store
@testable import Submission

/// The sender's small decisions.
struct DecisionTests {
  // MARK: Classes of answers

  @Test(
    "when a request fails, then its status and message decide the class of the failure",
    arguments: [
      (.tooManyRequests(retryAfter: .seconds(3)), .tooManyRequests),
      (.unreachable("x"), .unreachable), (.noAnswer("x"), .doubtful),
      (.serverTrouble(status: 500, message: ""), .doubtful), (.serverTrouble(status: 504, message: ""), .doubtful),
      (.notTheServer(status: 200, found: "an empty body"), .doubtful),
      (.notTheServer(status: 302, found: "a redirect"), .doubtful), (.unusableAnswer("x"), .doubtful),
      (.refused(status: 400, message: "Invalid request format: x"), .rejected),
      (.refused(status: 409, message: ""), .rejected), (.refused(status: 413, message: ""), .rejected),
      (.refused(status: 422, message: ""), .rejected), (.refused(status: 401, message: ""), .forbidden),
      (.refused(status: 403, message: "No started test found by id x"), .forbidden),
      (.refused(status: 404, message: ""), .trouble), (.refused(status: 406, message: ""), .trouble),
      (.refused(status: 200, message: "something"), .trouble),
      (.refused(status: 400, message: "No started test found by id x"), .noStartedTest),
      (.refused(status: 200, message: "No started test found by id x"), .noStartedTest),
      (.refused(status: 400, message: "No client found by id x"), .unknownClient),
    ] as [(ServerFailure, Verdict)])
  func verdicts(failure: ServerFailure, verdict: Verdict) {
    #expect(Verdict(failure) == verdict)
  }

  @Test("when a verdict leaves open whether the server has the batch, then it is not a definite no")
  func definite() {
    for verdict in [Verdict.doubtful, .noStartedTest] { #expect(!verdict.isDefiniteNo) }
    for verdict in [Verdict.rejected, .tooManyRequests, .unreachable] { #expect(verdict.isDefiniteNo) }
  }

  // MARK: Back-off

  @Test("when trouble continues, then each wait is random below a limit that doubles up to a cap, and never zero")
  func backoff() {
    for random in [0, 0.25, 1] {
      var backoff = Backoff(base: .seconds(30), cap: .seconds(300))
      for upper in [30.0, 60, 120, 240, 300, 300] {
        backoff.failed(at: .zero, random: random)
        #expect(backoff.remaining(at: .zero) == .seconds(1) + .seconds(upper * random))
        #expect(backoff.until != nil)
      }
      backoff.succeeded()
      #expect(backoff.remaining(at: .zero) == .zero)
      backoff.failed(at: .zero, random: 1)
      #expect(backoff.remaining(at: .zero) == .seconds(31))
    }
  }

  @Test("when 429 comes, then the wait is random and does not grow")
  func refusals() {
    var backoff = Backoff()
    for _ in 0..<5 {
      backoff.refused(at: .zero, random: 0.5)
      #expect(backoff.remaining(at: .zero) == .seconds(61))
    }
    backoff.refused(at: .zero, random: 0)
    #expect(backoff.remaining(at: .zero) == Backoff.least)
  }

  @Test("when the server asks for a wait, then the message has the wait, capped at an hour")
  func waits() {
    #expect("\(ServerFailure.tooManyRequests(retryAfter: .seconds(7200)))".contains("(429, not before 3600 s)"))
    #expect("\(ServerFailure.tooManyRequests(retryAfter: .seconds(90)))".contains("(429, not before 90 s)"))
    #expect("\(ServerFailure.tooManyRequests(retryAfter: .zero))".contains("(429)"))
  }

  // MARK: The server's history

  private func items(_ times: some Sequence<Int>) -> [HistoryItem] {
    times.map { HistoryItem(testUUID: "T\($0)", time: Int64($0), fences: $0) }
  }

  /// Reads the history of a server that has these tests in this order.
  /// - Parameter pageSize: The page size of the server.
  private func read(
    _ all: [HistoryItem], _ reading: HistoryReading, pageSize: Int = HistoryReading.pageSize
  ) -> (HistoryReading, pages: Int) {
    var (reading, pages) = (reading, 0)
    while let offset = reading.offset {
      let page = Array(all.dropFirst(offset).prefix(pageSize))
      reading.append(HistoryPage(entries: page.count, items: page))
      pages += 1
    }
    return (reading, pages)
  }

  @Test("when the server's pages are shorter than requested, then the whole history is still read")
  func shortPages() {
    let (reading, pages) = read(items((1...250).reversed()), HistoryReading(cursor: nil, oldest: 0), pageSize: 20)
    #expect(reading.tests.count == 250)
    #expect(pages == 14)
    #expect(!reading.isEndless)
  }

  @Test("when entries of a page name no test, then they still count in the offset of the next page")
  func entriesWithoutTest() {
    var reading = HistoryReading(cursor: nil, oldest: 0)
    reading.append(HistoryPage(entries: 100, items: items((1...40).reversed())))
    #expect(reading.offset == 100)
    reading.append(HistoryPage(entries: 30, items: []))
    #expect(reading.offset == 130)
    reading.append(HistoryPage(entries: 0, items: []))
    #expect(reading.offset == nil)
  }

  @Test("when a server ignores the offset, then the reading ends at the second identical page")
  func repeatedPages() {
    var reading = HistoryReading(cursor: nil, oldest: 0)
    for _ in 0..<2 { reading.append(HistoryPage(entries: 100, items: items((1...100).reversed()))) }
    #expect(reading.offset == nil && !reading.isEndless)
  }

  @Test("when the history is read for the first time, then it is read whole")
  func wholeHistory() {
    let (reading, pages) = read(items((1...250).reversed()), HistoryReading(cursor: nil, oldest: 249))
    #expect(pages == 4, "only an empty page is the last")
    #expect(reading.tests.count == 250)
    #expect(reading.tests["t17"]?.fences == 17)
    #expect(reading.cursor == 250)
  }

  @Test("when the history is read again, then only back to the last reading, or to the oldest test in question")
  func incremental() {
    let all = items((1...1000).reversed())
    let (recent, pages) = read(all, HistoryReading(cursor: 990, oldest: 995))
    #expect(pages == 1)
    #expect(recent.cursor == 1000)
    let (older, more) = read(all, HistoryReading(cursor: 990, oldest: 750))
    #expect(more == 3, "a test enters the history at the place of its own time")
    #expect(older.tests["t750"]?.fences == 750)
  }

  @Test("when the server does not sort its history, then the whole history is read")
  func unsorted() {
    let (reading, pages) = read(items(1...1000), HistoryReading(cursor: 990, oldest: 995))
    #expect(pages == 11)
    #expect(reading.tests["t995"]?.fences == 995)
  }

  @Test("when a server returns pages without end, then the reading stops at a limit and reports that it is incomplete")
  func endless() {
    var reading = HistoryReading(cursor: nil, oldest: 0)
    var pages = 0
    while reading.offset != nil, pages < 5000 {
      reading.append(HistoryPage(entries: 100, items: items(pages * 100..<pages * 100 + 100)))
      pages += 1
    }
    #expect(pages == HistoryReading.pageLimit)
    #expect(reading.isEndless)
  }

  // MARK: Order

  private func batch(_ id: Int64, earliest: Int64, troubles: Int = 0, sent: Int64? = nil) -> Batch {
    Batch(
      id: id, session: id, driveStarted: .rigStart, test: nil, state: .waiting, attempt: troubles,
      troubles: troubles,
      sent: sent.map(WallTime.init(microseconds:)), doubt: nil, sentFences: nil, fences: 1,
      earliest: WallTime(microseconds: earliest))
  }

  @Test("when batches wait, then the newest goes first, and those that met trouble go behind the others")
  func order() {
    let sorted = DeliveryOrder.sorted([
      batch(1, earliest: 10), batch(2, earliest: 30), batch(3, earliest: 99, troubles: 2, sent: 500),
      batch(4, earliest: 20, troubles: 1), batch(5, earliest: 98, troubles: 7, sent: 400),
    ])
    #expect(sorted.map(\.id) == [2, 1, 4, 5, 3])
  }
}
