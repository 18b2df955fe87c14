import Coverage
import Store
import TestSupport
import Testing

@testable import Service
@testable import SpeedTest
@testable import coverage_probe

/// The lines of a loop, for an operator.
struct LoopDisplayTests {
  private let shown = LogLines()
  private let printed = LogLines()

  private func report(_ news: LoopNews, onTerminal: Bool = true) {
    let (shown, printed) = (shown, printed)
    let show: @Sendable (String) -> Void = { shown.append($0) }
    LoopDisplay.report(news, of: 5, show: onTerminal ? show : nil) { printed.append($0) }
  }

  private func end(_ outcome: StoredSpeedTest.Outcome, figures: SpeedTestFigures? = nil, error: String? = nil)
    -> TestEnd
  {
    TestEnd(
      outcome: outcome, row: 1, testUUID: "T1", figures: figures, traffic: SpeedTestTraffic(), error: error,
      wasSuspended: false)
  }

  @Test("when a test begins, measures and ends, then the live line follows it, and its result line stays")
  func test() {
    report(.testBegan(number: 2))
    report(.progress(number: 2, SpeedTestProgress(phase: .download, thread: 0, sample: nil)))
    report(.testEnded(number: 2, end(.completed, figures: .sample())))
    #expect(shown.messages.count == 3)
    #expect(shown.messages.first == "test 2 of 5")
    #expect(shown.messages[1].hasPrefix("test 2 of 5  "))
    #expect(shown.messages.last?.isEmpty == true, "the live line is cleared before the result")
    #expect(printed.messages == ["test 2 of 5: download 47800 kbit/s, upload 19100 kbit/s, ping 30000 µs"])
  }

  @Test("when there is no terminal, then only results and the end are printed: the log has the notices")
  func plain() {
    report(.testBegan(number: 1), onTerminal: false)
    report(.progress(number: 1, SpeedTestProgress(phase: .upload, thread: 0, sample: nil)), onTerminal: false)
    report(.testEnded(number: 1, end(.failed, error: "no connection")), onTerminal: false)
    let notice = LoopNotice(number: 2, hold: .noFix, used: 0, limit: 0, isDateKnown: true)
    report(.notice(notice), onTerminal: false)
    report(.ended(.user), onTerminal: false)
    #expect(shown.messages.isEmpty)
    #expect(
      printed.messages == [
        "test 1 of 5: failed: no connection", "the loop is over: \(LoopEnd.user.words)",
      ])
  }

  @Test("when a loop ends, then each reason has its own line")
  func ends() {
    for end in LoopEnd.allCases { report(.ended(end)) }
    #expect(Set(printed.messages).count == LoopEnd.allCases.count)
    #expect(printed.messages.allSatisfy { $0.hasPrefix("the loop is over: ") && $0.count > 20 })
  }
}
