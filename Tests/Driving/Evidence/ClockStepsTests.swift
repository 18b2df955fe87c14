import Coverage
import TestSupport
import Testing

@testable import Driving

/// The differences between captured and logged times that a step of the host's clock explains.
struct ClockStepsTests {
  private func explains(_ steps: ClockSteps, _ seconds: Double, at time: Double) -> Bool {
    steps.explain(Int64(seconds * 1e9), at: .seconds(time), within: .milliseconds(100))
  }

  @Test("when the clock never stepped, then a second of slewing is explained, and more is not")
  func none() {
    let steps = ClockSteps([])
    for (seconds, expected) in [(0, true), (1.19, true), (-1.19, true), (1.3, false), (-1.3, false), (1e6, false)] {
      #expect(explains(steps, seconds, at: 50) == expected, "\(seconds)")
    }
  }

  @Test("when the drive followed a step, then packets after it are that much later, and those long before it are not")
  func followed() {
    let steps = ClockSteps([Event(at: .seconds(100), .clockSet(by: .seconds(3600)))])
    #expect(explains(steps, 3600, at: 101))
    #expect(explains(steps, 3600, at: 98), "the log notices a step up to 3 s late")
    #expect(!explains(steps, 3600, at: 90))
    #expect(!explains(steps, 0, at: 101))
    #expect(explains(steps, 0, at: 99))
  }

  @Test("when the drive did not follow the host's clock, then the lead at each time explains the difference")
  func leads() {
    let steps = ClockSteps(
      [], hostLeads: [(.seconds(10), .seconds(60)), (.seconds(20), .seconds(-30)), (.seconds(30), .zero)])
    #expect(explains(steps, 60, at: 15))
    #expect(!explains(steps, 60, at: 25))
    #expect(explains(steps, -30, at: 25))
    #expect(explains(steps, 0, at: 40))
    #expect(!explains(steps, -30, at: 40))
  }

  @Test("when steps and leads combine, then their sum counts")
  func both() {
    let steps = ClockSteps(
      [Event(at: .seconds(10), .clockSet(by: .seconds(100))), Event(at: .seconds(20), .clockSet(by: .seconds(-40)))],
      hostLeads: [(.seconds(15), .seconds(5))])
    #expect(explains(steps, 105, at: 18))
    #expect(explains(steps, 65, at: 30))
    #expect(!explains(steps, 100, at: 30))
  }
}
