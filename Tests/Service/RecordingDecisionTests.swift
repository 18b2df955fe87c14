import Settings
import Testing

@testable import Service

struct RecordingDecisionTests {
  private let start = ContinuousClock.now

  private func decision(_ rule: RecordingRule) -> RecordingDecision {
    RecordingDecision(rules: .init(rule: rule, startSpeed: 2, rest: .seconds(60), patience: .seconds(1800)))
  }

  private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test("when the rule is always, then a drive is wanted until a command says otherwise")
  func always() {
    var decision = decision(.always)
    #expect(decision.wantsDrive(at: start))
    decision.apply(.stop)
    #expect(!decision.wantsDrive(at: start))
    decision.apply(.resume)
    #expect(decision.wantsDrive(at: start))
  }

  @Test("when the rule is command, then a drive lasts from start to stop")
  func command() {
    var decision = decision(.command)
    #expect(!decision.wantsDrive(at: start))
    decision.apply(.start)
    #expect(decision.wantsDrive(at: start))
    decision.apply(.stop)
    #expect(!decision.wantsDrive(at: start))
  }

  @Test("when a pause ends, then the decision is as before it", arguments: RecordingRule.allCases)
  func pause(rule: RecordingRule) {
    for order in [ServiceCommand?.none, .start, .stop] {
      var decision = decision(rule)
      if let order { decision.apply(order) }
      let before = decision.wantsDrive(at: start)
      decision.apply(.pause)
      #expect(!decision.wantsDrive(at: start))
      decision.apply(.pause)
      decision.apply(.resume)
      #expect(decision.wantsDrive(at: start) == before)
    }
  }

  @Test("when the device moves and rests, then the drive begins with the third fast fix and ends after the rest")
  func moving() {
    var decision = decision(.moving)
    for second in 0..<2 { decision.update(speed: 9, at: after(second)) }
    #expect(!decision.wantsDrive(at: after(2)))
    decision.update(speed: 9, at: after(2))
    #expect(decision.wantsDrive(at: after(2)))
    for second in 3..<62 { decision.update(speed: 0.4, at: after(second)) }
    #expect(decision.wantsDrive(at: after(62)))
    #expect(!decision.wantsDrive(at: after(63)))
  }

  @Test("when no three fast fixes come in a row, then no drive begins")
  func jitter() {
    var decision = decision(.moving)
    for second in 0..<100 {
      decision.update(speed: second % 3 == 2 ? 0 : 5, at: after(second))
      #expect(!decision.wantsDrive(at: after(second)))
    }
  }

  @Test("when one fast fix comes during a rest, then the rest timer restarts")
  func creeping() {
    var decision = decision(.moving)
    for second in 0..<3 { decision.update(speed: 9, at: after(second)) }
    for second in 3..<50 { decision.update(speed: 0.4, at: after(second)) }
    decision.update(speed: 3, at: after(50))
    decision.update(speed: 0.4, at: after(51))
    #expect(decision.wantsDrive(at: after(110)))
    #expect(!decision.wantsDrive(at: after(111)))
  }

  @Test("when the position is lost while moving, then the drive continues until the patience ends")
  func lost() {
    var decision = decision(.moving)
    for second in 0..<3 { decision.update(speed: 9, at: after(second)) }
    decision.update(speed: nil, at: after(30))
    #expect(decision.wantsDrive(at: after(1801)))
    #expect(!decision.wantsDrive(at: after(1802)))
    decision.update(speed: 9, at: after(1900))
    #expect(!decision.wantsDrive(at: after(1900)), "three fast fixes are needed again")
  }
}
