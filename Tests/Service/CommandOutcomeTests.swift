import Coverage
import Testing

@testable import Driving
@testable import Service

/// The exit status of a command that recorded a drive.
struct CommandOutcomeTests {
  private func summary(pings: Int, silence: String?) -> DriveSummary {
    var totals = DriveTotals()
    for _ in 0..<pings { totals.count(.failed(.timeout)) }
    return DriveSummary(
      drive: 1, link: nil, fences: 3, submittableFences: 3, totals: totals, lasted: .seconds(9), reason: .user,
      capture: nil, silence: silence, fencelessReason: nil, unsentReason: nil, target: nil)
  }

  @Test("when no ping was sent on any link, then the exit status is 69, unless data was kept or the command failed")
  func outcomes() {
    let (silent, measured) = (summary(pings: 0, silence: "x"), summary(pings: 5, silence: nil))
    #expect(CommandOutcome.done.of([silent]) == .unmeasured)
    #expect(CommandOutcome.done.of([silent, silent]) == .unmeasured)
    #expect(CommandOutcome.done.of([silent, measured]) == .done)
    #expect(CommandOutcome.done.of([measured]) == .done)
    #expect(CommandOutcome.kept.of([silent]) == .kept)
    #expect(CommandOutcome.failed.of([silent]) == .failed)
    #expect(CommandOutcome.unmeasured.rawValue == 69)
    #expect(silent.silenceLine == "no ping was sent: x")
    #expect(measured.silenceLine == nil)
  }
}
