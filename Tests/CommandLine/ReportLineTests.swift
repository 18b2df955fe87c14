import Coverage
import TestSupport
import Testing

@testable import Service
@testable import Submission
@testable import coverage_probe

/// The result of a pass, as a line and as an exit status (README.md, Use).
struct ReportLineTests {
  private func report(_ change: (inout PassReport) -> Void) -> PassReport {
    var report = PassReport()
    change(&report)
    return report
  }

  @Test("when nothing waits, then the pass is done")
  func nothing() {
    #expect(PassReport().line == "nothing to submit")
    #expect(PassReport().outcome == .done)
  }

  @Test("when everything was sent, then the line counts the fences, and the pass is done")
  func sent() {
    let one = report { $0.tally = PassTally(fences: 1, of: [1]) }
    #expect(one.line == "submitted 1 fence in 1 session")
    #expect(one.outcome == .done)
    #expect(report { $0.tally = PassTally(fences: 0, of: [1, 2]) }.line == "submitted 0 fences in 2 sessions")
  }

  @Test(
    "when data was refused, kept or has no session, then the line has each with its remedy, and the outcome is kept")
  func left() {
    let all = report {
      $0.tally = PassTally(fences: 5, of: [1, 2], kept: [2, 3], quarantined: [4])
      $0.fencesWithoutSession = 1
      $0.firstFailure = .refused(status: 400, message: "bad fence")
    }
    #expect(
      all.line == """
        submitted 5 fences in 1 session; 2 sessions kept for later (coverage-probe submit); 1 session refused and \
        quarantined (coverage-probe submit --quarantined sends again); 1 fence without a session waits until it is older than \
        submission.legacy-threshold: the control server refused (400): bad fence
        """)
    #expect(all.outcome == .kept)
    #expect(
      report { $0.fencesWithoutSession = 3 }.line
        == "submitted 0 fences in 0 sessions; 3 fences without a session wait until they are older than submission.legacy-threshold"
    )
    for change in [
      { $0.tally = PassTally(fences: 0, kept: [1]) }, { $0.tally = PassTally(fences: 0, quarantined: [1]) },
      { $0.fencesWithoutSession = 1 },
    ]
      as [(inout PassReport) -> Void]
    {
      #expect(report(change).outcome == .kept)
    }
  }

  @Test(
    "when unsent fences were too old, then the line counts them as deleted, and the pass has failed, because data is lost"
  )
  func expired() {
    let lost = report { $0.fencesExpired = 2 }
    #expect(lost.line == "nothing to submit; 2 fences deleted unsent, older than submission.max-age")
    #expect(lost.outcome == .failed && (lost + PassReport()).fencesExpired == 2)
    #expect(report { ($0.fencesExpired, $0.tally) = (2, PassTally(fences: 0, kept: [1])) }.outcome == .failed)
  }

  @Test("when two passes meet the same session, then it counts once, with the later result")
  func joint() {
    let first = report { $0.tally = PassTally(fences: 5, of: [1, 2], kept: [2, 3], quarantined: [4]) }
    let second = report { $0.tally = PassTally(fences: 7, of: [2, 4, 5], kept: [3, 5]) }
    let both = first + second
    #expect((both.fencesSent, both.sessionsSent, both.sessionsKept, both.sessionsQuarantined) == (12, 3, 2, 0))
    #expect((second + first).sessionsKept == 3, "a session that waits after the last pass is not sent")
  }

  @Test("when a stop ended the pass, then the line says so, and the data is kept")
  func stopped() {
    let stopped = report { $0.wasStopped = true }
    #expect(stopped.line == "stopped before anything was sent")
    #expect(stopped.outcome == .kept)
  }

  @Test("when a wait held the pass, then the line has its end and the command that ends it now")
  func held() {
    let open = report {
      ($0.hold, $0.heldUntil) = (.gate(.breaker(.seconds(29.5))), WallTime.sampleStart.later(by: .milliseconds(500)))
    }
    #expect(
      open.line == """
        nothing to submit; the control server asked for fewer requests (429): no request leaves before \
        2026-11-20T10:00:01Z (in 00:00:30); coverage-probe submit --force sends now
        """)
    #expect(open.outcome == .kept, "even with nothing to submit")
    let pause = report { $0.hold = .gate(.retryAfter(.seconds(3599))) }
    #expect(pause.line.hasSuffix("no request leaves (in 01:00:00); coverage-probe submit --force sends now"))
    let trouble = report { $0.hold = .gate(.trouble(.seconds(4))) }
    #expect(trouble.line.hasSuffix("no request leaves (in 00:00:05); coverage-probe submit sends now"))
  }

  @Test("when the clock is not set, then the line says so, and the outcome is kept")
  func clock() {
    let report = report { $0.hold = .clock }
    #expect(report.line == "nothing to submit; the host's clock is not set")
    #expect(report.outcome == .kept)
    let waiting = self.report { ($0.hold, $0.tally) = (.clock, PassTally(fences: 0, kept: [1])) }
    #expect(
      waiting.line == """
        submitted 0 fences in 0 sessions; 1 session kept for later (coverage-probe submit); the host's clock is not set
        """)
  }

  @Test("when a drive runs, then the line says that its fences are sent at its end, and the pass is done")
  func running() {
    let one = report { $0.fencesOfRunningDrives = 1 }
    #expect(one.line == "nothing to submit; 1 fence of the running drive is sent when it ends")
    #expect(one.outcome == .done)
    #expect(
      report { $0.fencesOfRunningDrives = 7 }.line.hasSuffix("; 7 fences of the running drive are sent when it ends"))
  }
}
