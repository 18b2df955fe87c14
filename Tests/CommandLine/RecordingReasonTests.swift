import Settings
import Testing

@testable import Service
@testable import coverage_probe

/// Why the service records or does not, and how commands and changed rules decide it.
struct RecordingReasonTests {
  private let start = ContinuousClock.now

  private func decision(_ rule: RecordingRule, _ commands: ServiceCommand...) -> RecordingDecision {
    var decision = RecordingDecision(
      rules: .init(rule: rule, startSpeed: 2, rest: .seconds(60), patience: .seconds(1800)))
    commands.forEach { decision.apply($0) }
    return decision
  }

  private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test(
    "when a command was given, then it is the reason under any rule", arguments: RecordingRule.allCases)
  func commands(rule: RecordingRule) {
    for (commands, reason, isWanted) in [
      ([.start], "started by command", true), ([.stop], "stopped by command", false), ([.pause], "paused", false),
      ([.start, .pause], "paused", false), ([.pause, .start], "started by command", true),
      ([.pause, .stop], "stopped by command", false), ([.start, .pause, .resume], "started by command", true),
      ([.stop, .pause, .resume], "stopped by command", false), ([.start, .resume], "started by command", true),
    ] as [([ServiceCommand], String, Bool)] {
      var decision = decision(rule)
      commands.forEach { decision.apply($0) }
      #expect(decision.reason(at: start) == reason, "\(commands)")
      #expect(decision.wantsDrive(at: start) == isWanted, "\(commands)")
    }
  }

  @Test("when no command applies, then the rule gives the reason; resume after stop restores the rule")
  func rules() {
    for commands in [[], [.resume], [.stop, .resume], [.pause, .resume]] as [[ServiceCommand]] {
      for (rule, reason) in [
        (RecordingRule.always, "always recording"), (.moving, "standing"), (.command, "waiting for a command"),
      ] {
        var decision = decision(rule)
        commands.forEach { decision.apply($0) }
        #expect(decision.reason(at: start) == reason, "\(commands)")
      }
    }
  }

  @Test("when the device moves, then the reason says so until it has rested")
  func moving() {
    var decision = decision(.moving)
    for second in 0..<3 { decision.update(speed: 9, at: after(second)) }
    #expect(decision.reason(at: after(2)) == "moving")
    decision.update(speed: 0, at: after(3))
    #expect(decision.reason(at: after(62)) == "moving")
    #expect(decision.reason(at: after(63)) == "standing")
  }

  @Test("when the speed is exactly the limit, then the device does not move")
  func limit() {
    var decision = decision(.moving)
    for second in 0..<10 { decision.update(speed: 2, at: after(second)) }
    #expect(!decision.wantsDrive(at: after(9)))
    for second in 10..<13 { decision.update(speed: 2.01, at: after(second)) }
    #expect(decision.wantsDrive(at: after(12)))
  }

  @Test("when fixes without a speed come between fast ones, then they change nothing")
  func noSpeed() {
    var decision = decision(.moving)
    for second in 0..<6 { decision.update(speed: second % 2 == 0 ? 9 : nil, at: after(second)) }
    #expect(decision.wantsDrive(at: after(5)))
  }

  @Test("when the rules change, then they apply at once to the movement so far, and a command still wins")
  func changed() {
    var decision = decision(.moving)
    for second in 0..<3 { decision.update(speed: 9, at: after(second)) }
    decision.update(speed: 0, at: after(3))
    decision.rules.rest = .seconds(600)
    #expect(decision.wantsDrive(at: after(602)))
    decision.rules.rule = .command
    #expect(!decision.wantsDrive(at: after(4)))
    decision.apply(.start)
    decision.rules.rule = .moving
    #expect(decision.wantsDrive(at: after(10_000)))
  }
}
