import Coverage
import Foundation
import TestSupport

@testable import SpeedTest

/// A loop, its model, and the world around both. It checks each step of the loop against the model, and against the
/// rules for any world.
struct LoopWorld {
  enum Action: Hashable {
    case input(LoopInput)
    /// A fix that is `by` metres from the last one.
    case move(by: Double)
    case inaccurate
    case completed, failed
    /// A result of a test that is not running.
    case stray
    case suspend(Double)
    case restart
    /// A power loss; a restart while no clock is trusted, since the model has no unknown times.
    case reboot
    case dateLost, dateKnown
    case nextDay
  }

  private(set) var rig: LoopRig
  private(set) var model: LoopModel
  private var metres = 0.0
  private var lastSuspended = 0.0
  /// The first fault.
  private(set) var complaint: String?
  private var started = 0
  private var isRunning = false

  init(_ rules: LoopRules) {
    rig = LoopRig(rules)
    model = LoopModel(rules)
    happen(.input(.tick))
  }

  private var time: Double { rig.time }

  mutating func happen(_ action: Action, after seconds: Double = 0) {
    rig.pass(seconds)
    switch action {
    case .input(let input): step(input, .input(input))
    case .move(let by):
      metres += by
      step(.fix(.sample(metres)), .fix(metres: metres))
    case .inaccurate: step(.fix(.sample(metres + 5000, accuracy: 50)), .fix(metres: nil))
    case .completed: result(true, of: started)
    case .failed: result(false, of: started)
    case .stray: result(true, of: started + (isRunning ? 1 : 0))
    case .suspend(let seconds):
      rig.suspend(seconds)
      step(.tick, .input(.tick))
    case .restart: restart()
    case .reboot:
      if rig.isWallTrusted, rig.disk?.stamp.wall != nil {
        rig.powerOn(after: 100, uptime: 30)
        lastSuspended = 0
      }
      restart()
    case .dateLost, .dateKnown:
      rig.isWallTrusted = action == .dateKnown
      step(.tick, .input(.tick))
    case .nextDay:
      rig.pass(86_400)
      step(.tick, .input(.tick))
    }
  }

  private mutating func result(_ hasResult: Bool, of number: Int) {
    let input = LoopInput.testEnded(number: number, hasResult: hasResult)
    step(input, .input(input))
  }

  private mutating func step(_ input: LoopInput, _ entry: LoopModel.Entry) {
    let effects = rig.coordinator.handle(input, at: rig.moment)
    compare(effects, rig.note(effects), entry, "\(input)")
  }

  private mutating func restart() {
    guard let disk = rig.disk else { return }
    rig.coordinator = LoopCoordinator(
      resuming: disk, rig.coordinator.rules, bootID: rig.bootID, at: rig.moment)
    let effects = rig.coordinator.handle(.tick, at: rig.moment)
    compare(effects, rig.note(effects), .restarted, "restart")
  }

  private mutating func compare(
    _ effects: [LoopEffect], _ commands: [LoopEffect], _ entry: LoopModel.Entry, _ name: String
  ) {
    let expected = model.step(
      entry, time: time, awake: rig.boot - rig.suspended, wall: rig.moment.wall,
      suspended: rig.suspended - lastSuspended)
    lastSuspended = rig.suspended
    let isResult = if case .input(.testEnded(started, _)) = entry { true } else { false }
    if commands != expected { complain("\(name): \(commands) instead of \(expected)") }
    check(effects, isResult)
  }

  // MARK: Rules for any world

  private mutating func check(_ effects: [LoopEffect], _ isResult: Bool) {
    let order = effects.map(\.rank)
    if order != order.sorted() { complain("the effects are in the wrong order: \(effects)") }
    for effect in effects {
      switch effect {
      case .startTest(let number, _):
        if isRunning, !isResult { complain("test \(number) starts while another one is running") }
        if number != started + 1 { complain("test \(number) follows test \(started)") }
        if !order.contains(LoopEffect.persistRank) { complain("test \(number) starts before it is on the disk") }
        (started, isRunning) = (number, true)
      case .abortTest(let number, _):
        if !isRunning || number != started { complain("test \(number) is aborted but is not running") }
        isRunning = false
      default: break
      }
    }
    let memory = rig.coordinator.memory
    if memory.stage != .testing { isRunning = false }
    if rig.disk != memory { complain("the disk has \(String(describing: rig.disk)) instead of \(memory)") }
    if !rig.coordinator.isOver, (rig.wakeAt ?? .zero) <= rig.moment.boot { complain("the wake-up time is past") }
  }

  mutating func complain(_ text: String) { complaint = complaint ?? "after \(time) s: \(text)" }
}

extension LoopEffect {
  static let persistRank = 1

  /// The place of the effect in its step.
  var rank: Int {
    switch self {
    case .abortTest: 0
    case .persist: Self.persistRank
    case .startTest, .notice, .ended: 2
    case .wake: 3
    }
  }
}

extension LoopWorld.Action {
  static func random(_ random: inout SeededGenerator) -> LoopWorld.Action {
    switch Int.random(in: 0..<44, using: &random) {
    case 0..<6: .input(.tick)
    case 6..<12: .move(by: Double(Int.random(in: -2...2, using: &random)) * 100)
    case 12: .input(.fix(.lost))
    case 13: .inaccurate
    case 14..<17: .input(.pause)
    case 17..<20: .input(.resume)
    case 20: .input(.sleep)
    case 21: .input(.wake)
    case 22..<26: .completed
    case 26: .failed
    case 27: .stray
    case 28, 29: .suspend([0.5, 1, 40, 400][Int.random(in: 0..<4, using: &random)])
    case 30: .restart
    case 31: .reboot
    case 32..<35: .input(.traffic(bytes: Int64.random(in: 1...90_000_000, using: &random)))
    case 35: .input(.named("L\(Int.random(in: 0..<3, using: &random))", isNewLoop: Bool.random(using: &random)))
    case 36: .input(.checkpoint)
    case 37: Bool.random(using: &random) ? .dateLost : .dateKnown
    case 40..<43: .input(.link(otherLink: Bool.random(using: &random) ? "words" : nil))
    case 43: .input(.stalled(number: Int.random(in: 1...3, using: &random)))
    case 38: Int.random(in: 0..<3, using: &random) == 0 ? .nextDay : .dateKnown
    default: Int.random(in: 0..<8, using: &random) == 0 ? .input(.stop) : .input(.tick)
    }
  }

  /// Seconds before the action.
  static func pause(_ random: inout SeededGenerator) -> Double {
    [0, 0, 0.5, 1, 5, 10, 11, 30, 60, 61, 150, 300, 299, 600, 3600][Int.random(in: 0..<15, using: &random)]
  }
}

extension LoopRules {
  static func random(_ random: inout SeededGenerator) throws -> LoopRules {
    let isTimed = Int.random(in: 0..<4, using: &random) > 0
    let isMoving = !isTimed || Bool.random(using: &random)
    func limit(_ random: inout SeededGenerator) -> Int64? {
      Int.random(in: 0..<3, using: &random) == 0 ? Int64.random(in: 1...400_000_000, using: &random) : nil
    }
    return try LoopRules(
      count: Int.random(in: 1...6, using: &random), every: isTimed ? .seconds(300) : nil,
      distance: isMoving ? 250 : nil,
      duration: [.seconds(1200), .seconds(7200), LoopRules.longestDuration][Int.random(in: 0..<3, using: &random)],
      afterRestart: Int.random(in: 0..<8, using: &random) == 0 ? .end : .resume,
      allowsOtherLinks: Int.random(in: 0..<4, using: &random) == 0,
      data: try DataLimits(day: limit(&random), month: limit(&random)))
  }
}
