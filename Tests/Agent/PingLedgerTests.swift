import TestSupport
import Testing

@testable import Agent
@testable import Pinging

/// What a run of pings says, and when it is over.
struct PingLedgerTests {
  private func ledger(_ format: PingRun.Format, _ names: String...) -> PingLedger {
    PingLedger(names: names, format: format)
  }

  @Test("when events are missing, then the end of the summary says how many, as text and as JSON")
  func missingEvents() {
    for (format, expected) in [
      (PingRun.Format.text, "7 events are missing in these figures: this host was too slow to take them"),
      (.quiet, "7 events are missing in these figures: this host was too slow to take them"),
      (.json, #"{"missing_events":7}"#),
    ] {
      var ledger = ledger(format, "a")
      for count in [3, 4] as [UInt64] {
        let line = ledger.take(.sample(.overflow(count: count), number: 0), of: nil)
        #expect(line == nil)
      }
      #expect(ledger.summaries(isInterim: false).last == expected)
      #expect(ledger.summaries(isInterim: false).count == 2)
    }
  }

  @Test("when no event is missing, then nothing is said of it")
  func noneMissing() {
    #expect(ledger(.json, "a", "b").summaries(isInterim: true).count == 2)
  }

  @Test("when a ping has its verdict, then its line names the target, and the figures are that target's")
  func lines() {
    var ledger = ledger(.text, "a", "b")
    let line = ledger.take(.sample(.answered(rttNanoseconds: 2_000_000), number: 4), of: 1)
    #expect(line == "b: ping 4 2.000 ms")
    #expect(ledger.summaries(isInterim: false).map { $0.prefix(9) } == ["a: 0 sent", "b: 1 sent"])
    #expect(!ledger.haveAllReplied)
    ledger.rename(1, "c")
    #expect(ledger.summaries(isInterim: false)[1].hasPrefix("c: 1 sent"))
  }

  @Test("when every target has finished, then the run is over, though an event that tells so was missing")
  func over() {
    var ledger = ledger(.quiet, "a", "b")
    _ = ledger.take(.sample(.finished, number: 0), of: 0)
    #expect(ledger.running == [1])
    ledger.finish(1)
    #expect(!ledger.isRunning)
  }

  @Test("when an event is of no target that is known, then it is nobody's")
  func unknown() {
    var ledger = ledger(.text, "a")
    let line = ledger.take(.sample(.lost(.unknown), number: 0), of: 5)
    #expect(line == nil)
  }
}
