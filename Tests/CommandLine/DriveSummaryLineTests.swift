import Coverage
import Testing

@testable import Driving
@testable import Service
@testable import coverage_probe

/// The summary lines of `record` and the service after a drive.
struct DriveSummaryLineTests {
  private func summary(
    _ reason: StopReason = .user, link: String? = nil, fences: Int = 17, totals: DriveTotals = DriveTotals(),
    silence: String? = nil, fenceless: String? = nil
  ) -> DriveSummary {
    DriveSummary(
      drive: 4, link: link, fences: fences, submittableFences: min(fences, 16), totals: totals,
      lasted: .seconds(3723), reason: reason, capture: nil, silence: silence, fencelessReason: fenceless,
      unsentReason: nil, target: nil)
  }

  @Test(
    "when a drive ends, then the first line has its duration and the reason",
    arguments: [
      (StopReason.user, "stopped"), (.duration, "its maximum duration is reached"),
      (.insufficientAccuracy, "no accurate position since its start"), (.endOfLog, "the log ends"),
    ])
  func reasons(reason: StopReason, expected: String) {
    #expect(summary(reason).lines.first == "drive 4 ended after 01:02:03: \(expected)")
    #expect(summary(reason, link: "B").lines.first == "drive 4 (B) ended after 01:02:03: \(expected)")
  }

  @Test("when a drive has no fence for want of a position, then a line says so")
  func fenceless() {
    #expect(summary(fences: 0, fenceless: "waiting for GPS").lines.last == "no fence: waiting for GPS")
  }

  @Test("when pings were sent, then the second line has their number, mean and loss")
  func pings() {
    var totals = DriveTotals()
    for _ in 0..<199 { totals.count(.answered(rttNanoseconds: 20_000_000)) }
    totals.count(.failed(.timeout))
    #expect(summary(totals: totals).lines[1] == "17 fences, 16 of them to submit; 200 pings, 20.0 ms 0.5 % lost")
    var lost = DriveTotals()
    lost.count(.failed(.timeout))
    #expect(summary(fences: 1, totals: lost).lines[1] == "1 fence, 1 of them to submit; 1 ping, - ms 100 % lost")
    #expect(
      summary(fences: 1, totals: lost).lines.last
        == "no ping was answered: `coverage-probe doctor` says whether the ping server answers where there is a network"
    )
    #expect(summary(totals: totals).lines.count == 2)
  }

  @Test("when no ping was sent, then a line says why, with the link's name")
  func silence() {
    #expect(summary(fences: 0).lines[1] == "0 fences, 0 of them to submit; no pings")
    #expect(summary(silence: "no test").silenceLine == "no ping was sent: no test")
    #expect(summary(link: "A", silence: "no test").silenceLine == "no ping was sent (A): no test")
    #expect(summary().silenceLine == nil)
  }

  @Test("when the disk refused the last fences, then the error counts them and names the command for the others")
  func lost() {
    #expect(
      RecordingError.unsaved(fences: 1, trouble: "the disk is full").description
        == "1 fence is lost because the disk refused them: the disk is full; the others wait for coverage-probe submit")
    #expect(RecordingError.unsaved(fences: 2, trouble: "x").description.hasPrefix("2 fences are lost"))
  }
}
