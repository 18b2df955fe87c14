import TestSupport
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// The lines and summaries of a run of pings, and its end.
struct PingResultsTests {
  private let clock = WallReading(aheadNanoseconds: 0)

  private func results(_ format: PingOptions.Format, _ names: String..., isQuiet: Bool = false) -> PingResults {
    PingResults(names: names, format: format, isQuiet: isQuiet)
  }

  @Test("when events are missing, then the end of the summary says how many, as text and as JSON")
  func missingEvents() {
    for (format, expected) in [
      (PingOptions.Format.text, "7 events are missing in these figures: the reader fell behind"),
      (.json, #"{"missing_events":7}"#),
    ] {
      var results = results(format, "a")
      for count in [3, 4] as [UInt64] {
        let line = results.record(.sample(.overflow(count: count), number: 0), of: nil, by: clock)
        #expect(line == nil)
      }
      #expect(results.summaries().last == expected)
      #expect(results.summaries().count == 2)
    }
  }

  @Test("when only summaries are wanted, then no ping has a line, as text or as JSON")
  func quiet() {
    for format in [PingOptions.Format.text, .json] {
      var results = results(format, "a", isQuiet: true)
      let line = results.record(.sample(.answered(rttNanoseconds: 1), number: 0), of: 0, by: clock)
      #expect(line == nil)
      #expect(results.summaries()[0].hasPrefix("{") == (format == .json))
    }
  }

  @Test("when no event is missing, then the summary has no line about it")
  func noneMissing() {
    #expect(results(.json, "a", "b").summaries().count == 2)
  }

  @Test("when a ping has its verdict, then its line names the target, and the figures are that target's")
  func lines() {
    var results = results(.text, "a", "b")
    let line = results.record(.sample(.answered(rttNanoseconds: 2_000_000), number: 4), of: 1, by: clock)
    #expect(line == "b: ping 4 2.000 ms")
    #expect(results.summaries().map { $0.prefix(9) } == ["a: 0 sent", "b: 1 sent"])
    #expect(!results.haveAllAnswered)
    results.rename(1, "c")
    #expect(results.summaries()[1].hasPrefix("c: 1 sent"))
  }

  @Test("when the token is refused, then the target has not answered")
  func refused() {
    var results = results(.text, "a", isQuiet: true)
    _ = results.record(.sample(.refused(rttNanoseconds: 2_000_000), number: 0), of: 0, by: clock)
    #expect(!results.haveAllAnswered)
    let summary = results.summaries()
    #expect(summary == ["a: 1 sent, 0 answered, 0 lost (0.0 %), 1 refused"])
  }

  @Test("when a summary is requested during a run, then it has the pings in flight, which no other figure counts")
  func interim() {
    var text = results(.text, "a", "b")
    _ = text.record(.sample(.lost(.unknown), number: 0), of: 1, by: clock)
    #expect(
      text.summaries(underWay: [3, 0]) == [
        "a: 0 sent, 0 answered, 0 lost, 3 in flight", "b: 1 sent, 0 answered, 1 lost (100.0 %), 0 in flight",
      ])
    let json = results(.json, "a")
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
      var results = results(format, "a")
      for (number, flag) in [PingEvent.Flags.noReceiveStamp, .clockStep, .clockStep].enumerated() {
        let event = PingEvent.sample(.answered(rttNanoseconds: 1), number: UInt64(number), flags: flag)
        _ = results.record(event, of: 0, by: clock)
      }
      #expect(results.summaries()[0].contains(expected), "\(results.summaries())")
    }
  }

  @Test("when every target has finished, then the run is over, even if the event of one is missing")
  func over() {
    var results = results(.text, "a", "b", isQuiet: true)
    _ = results.record(.sample(.finished, number: 0), of: 0, by: clock)
    #expect(results.running == [1])
    results.finish(1)
    #expect(!results.isRunning)
  }

  @Test("when an event has an unknown target, then no line is printed")
  func unknown() {
    var results = results(.text, "a")
    let line = results.record(.sample(.lost(.unknown), number: 0), of: 5, by: clock)
    #expect(line == nil)
  }
}
