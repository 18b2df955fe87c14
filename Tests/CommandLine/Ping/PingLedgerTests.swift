import TestSupport
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// The lines and summaries of a run of pings, and its end.
struct PingLedgerTests {
  private let clock = WallReading(aheadNanoseconds: 0)

  private func ledger(_ format: PingOptions.Format, _ names: String..., isQuiet: Bool = false) -> PingLedger {
    PingLedger(names: names, format: format, isQuiet: isQuiet)
  }

  @Test("when events are missing, then the end of the summary says how many, as text and as JSON")
  func missingEvents() {
    for (format, expected) in [
      (PingOptions.Format.text, "7 events are missing in these figures: the reader fell behind"),
      (.json, #"{"missing_events":7}"#),
    ] {
      var ledger = ledger(format, "a")
      for count in [3, 4] as [UInt64] {
        let line = ledger.record(.sample(.overflow(count: count), number: 0), of: nil, by: clock)
        #expect(line == nil)
      }
      #expect(ledger.summaries().last == expected)
      #expect(ledger.summaries().count == 2)
    }
  }

  @Test("when only summaries are wanted, then no ping has a line, as text or as JSON")
  func quiet() {
    for format in [PingOptions.Format.text, .json] {
      var ledger = ledger(format, "a", isQuiet: true)
      let line = ledger.record(.sample(.answered(rttNanoseconds: 1), number: 0), of: 0, by: clock)
      #expect(line == nil)
      #expect(ledger.summaries()[0].hasPrefix("{") == (format == .json))
    }
  }

  @Test("when no event is missing, then the summary has no line about it")
  func noneMissing() {
    #expect(ledger(.json, "a", "b").summaries().count == 2)
  }

  @Test("when a ping has its verdict, then its line names the target, and the figures are that target's")
  func lines() {
    var ledger = ledger(.text, "a", "b")
    let line = ledger.record(.sample(.answered(rttNanoseconds: 2_000_000), number: 4), of: 1, by: clock)
    #expect(line == "b: ping 4 2.000 ms")
    #expect(ledger.summaries().map { $0.prefix(9) } == ["a: 0 sent", "b: 1 sent"])
    #expect(!ledger.haveAllAnswered)
    ledger.rename(1, "c")
    #expect(ledger.summaries()[1].hasPrefix("c: 1 sent"))
  }

  @Test("when the token is refused, then the target has not answered")
  func refused() {
    var ledger = ledger(.text, "a", isQuiet: true)
    _ = ledger.record(.sample(.refused(rttNanoseconds: 2_000_000), number: 0), of: 0, by: clock)
    #expect(!ledger.haveAllAnswered)
    let summary = ledger.summaries()
    #expect(summary == ["a: 1 sent, 0 answered, 0 lost (0.0 %), 1 refused"])
  }

  @Test("when a summary is requested during a run, then it has the pings in flight, which no other figure counts")
  func interim() {
    var text = ledger(.text, "a", "b")
    _ = text.record(.sample(.lost(.unknown), number: 0), of: 1, by: clock)
    #expect(
      text.summaries(underWay: [3, 0]) == [
        "a: 0 sent, 0 answered, 0 lost, 3 in flight", "b: 1 sent, 0 answered, 1 lost (100.0 %), 0 in flight",
      ])
    let json = ledger(.json, "a")
    #expect(
      json.summaries(underWay: [3])[0].hasPrefix(#"{"interim":{"target":"a","sent":0,"in_flight":3,"answered":0,"#))
    #expect(!json.summaries()[0].contains("in_flight"))
  }

  @Test("when stamps are missing or a clock was set, then the summary says so as text and as JSON")
  func stamps() {
    for (format, expected) in [
      (PingOptions.Format.text, ", 1 without the kernel's stamps, 2 while the clock was set"),
      (.json, #""corrupt":0,"missing_stamps":1,"absurd_stamps":0,"clock_steps":2,"#),
    ] {
      var ledger = ledger(format, "a")
      for (number, flag) in [PingEvent.Flags.noReceiveStamp, .clockStep, .clockStep].enumerated() {
        let event = PingEvent.sample(.answered(rttNanoseconds: 1), number: UInt64(number), flags: flag)
        _ = ledger.record(event, of: 0, by: clock)
      }
      #expect(ledger.summaries()[0].contains(expected), "\(ledger.summaries())")
    }
  }

  @Test("when every target has finished, then the run is over, even if the event of one is missing")
  func over() {
    var ledger = ledger(.text, "a", "b", isQuiet: true)
    _ = ledger.record(.sample(.finished, number: 0), of: 0, by: clock)
    #expect(ledger.running == [1])
    ledger.finish(1)
    #expect(!ledger.isRunning)
  }

  @Test("when an event has an unknown target, then no line is printed")
  func unknown() {
    var ledger = ledger(.text, "a")
    let line = ledger.record(.sample(.lost(.unknown), number: 0), of: 5, by: clock)
    #expect(line == nil)
  }
}
