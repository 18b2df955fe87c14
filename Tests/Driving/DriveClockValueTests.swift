import Coverage
import TestSupport
import Testing

@testable import Driving
@testable import Submission

/// A drive's clock as a value.
struct DriveClockValueTests {
  private let instant = ContinuousClock.now

  private func reading(step: Duration = .zero, isTrusted: Bool = true, lead: Duration? = nil) -> Timekeeper.Reading {
    let reading = DriveRig.reading(step: step, isTrusted: isTrusted)
    return Timekeeper.Reading(selection: reading.selection, boot: reading.boot, hostLead: lead)
  }

  @Test(
    "when the selected time moves by a second or more, then the drive's times move; less is left to NTP",
    arguments: [(1000, true), (-1000, true), (999, false), (-999, false), (1500, true), (-1500, true)])
  func steps(milliseconds: Int, isStep: Bool) {
    var clock = DriveClock(reading(), now: (DriveRig.startedBoot, instant))
    #expect(
      clock.adjust(to: reading(step: .milliseconds(milliseconds))) == (isStep ? .milliseconds(milliseconds) : nil))
  }

  @Test("when no clock can be right, then no times move")
  func untrusted() {
    var clock = DriveClock(reading(), now: (DriveRig.startedBoot, instant))
    #expect(clock.adjust(to: reading(step: .seconds(100), isTrusted: false)) == nil)
    #expect(clock.started == .sampleStart && !clock.isTrusted)
  }

  @Test("when a drive starts within a millisecond, then both of its clocks count from the start of that millisecond")
  func wholeMillisecond() {
    let clock = DriveClock(reading(step: .microseconds(700)), now: (DriveRig.startedBoot, instant))
    #expect(clock.started == .sampleStart)
    #expect(clock.time(of: instant) == DriveTime(microseconds: 700))
    #expect(clock.time(ofSlot: DriveRig.startedBoot) == DriveTime(microseconds: 700))
  }

  @Test(
    "when the host's lead grows by a second, or falls by more, then the log gets a new note",
    arguments: [(-1001, true), (-1000, false), (999, false), (1000, true)])
  func leads(milliseconds: Int, isNews: Bool) {
    var clock = DriveClock(reading(lead: .seconds(5)), now: (DriveRig.startedBoot, instant))
    let first = clock.news()
    #expect(first != nil)
    _ = clock.adjust(to: reading(lead: .seconds(5) + .milliseconds(milliseconds)))
    let news = clock.news()
    #expect((news != nil) == isNews)
  }
}
