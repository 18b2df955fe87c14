import Coverage

/// Decides when the tests of a loop start: inputs in, effects out. A pure value.
///
/// It reads no clock and does no I/O: the time comes in with each input, and a shell runs the effects. Each step ends in the same decision,
/// so that the order of two inputs at one moment cannot leave a test unstarted (docs/loop.md).
struct LoopCoordinator: Hashable, Sendable {
  let rules: LoopRules
  /// The state that survives a restart.
  private(set) var memory: LoopMemory
  private let bootID: String
  private var clock: LoopClock
  private var sleep: SleepWatch
  private var position = LoopPosition()
  /// ``LoopInput/link(otherLink:)``
  private var otherLink: String?
  /// The state was read from the store, or is new, and no input has been handled.
  private var start: Start?
  private var wakeAt: Duration?
  /// No test starts and no notice is given. Inputs count as before.
  var isClosed = false

  private enum Start { case new, restart }

  /// A new loop. The first input starts it.
  /// - Parameter bootID: The kernel's random id of this boot.
  init(_ rules: LoopRules, usage: DataUsage = DataUsage(), bootID: String, at moment: LoopMoment) {
    (self.rules, self.bootID) = (rules, bootID)
    clock = LoopClock(at: moment)
    sleep = SleepWatch(at: moment)
    memory = LoopMemory(
      usage: usage,
      stamp: LoopStamp(bootID: bootID, boot: moment.boot.inMicroseconds, loop: 0, wall: moment.wall))
    start = .new
  }

  /// The loop of an earlier process. The first input resumes or ends it.
  /// - Parameter bootID: The kernel's random id of this boot.
  init(resuming memory: LoopMemory, _ rules: LoopRules, bootID: String, at moment: LoopMoment) {
    (self.rules, self.bootID) = (rules, bootID)
    clock = LoopClock(continuing: memory.stamp, at: moment, bootID: bootID)
    sleep = SleepWatch(at: moment)
    self.memory = memory
    start = .restart
  }

  var isOver: Bool { memory.isOver }

  // MARK: A step

  /// - Parameter moment: The present; boot time never decreases.
  /// - Returns: The effects, to be run in this order.
  mutating func handle(_ input: LoopInput, at moment: LoopMoment) -> [LoopEffect] {
    let before = memory
    var aborts: [LoopEffect] = []
    var others: [LoopEffect] = []
    memory.usage.date(at: moment.wall)
    if !isOver {
      clock.advance(to: moment)
      handleSuspend(at: moment, &aborts)
      let isRestart = start == .restart
      if isRestart, memory.stage == .testing {
        memory.usage.chargeInterruptedTest(at: moment.wall)
        abort(.restarted, &aborts)
      }
      if let limit = passedLimit {
        end(limit, &aborts, &others)
      } else if isRestart, rules.afterRestart == .end {
        end(.restart, &aborts, &others)
      }
    }
    apply(input, at: moment, &aborts, &others)
    if !isOver { decide(at: moment, &others) }
    // After a restart too: the next reboot must not count from a time before this one.
    let mustWrite = memory != before || start != nil || input == .checkpoint
    start = nil
    return aborts + (mustWrite ? [write(at: moment)] : []) + others + nextWake(at: moment)
  }

  private mutating func apply(
    _ input: LoopInput, at moment: LoopMoment, _ aborts: inout [LoopEffect], _ others: inout [LoopEffect]
  ) {
    // The bytes of an aborted test or an ended loop cost money all the same.
    if case .traffic(let bytes) = input { memory.usage.add(bytes, at: moment.wall) }
    guard !isOver else { return }
    switch input {
    case .tick, .traffic, .checkpoint: break
    case .link(let otherLink): self.otherLink = otherLink
    case .fix(let fix): position.apply(fix, at: clock.now)
    case .pause:
      memory.isPaused = true
      abort(.paused, &aborts)
    case .resume: memory.isPaused = false
    case .sleep:
      sleep.announce(at: moment)
      abort(.asleep, &aborts)
    case .wake: sleep.end()
    case .stalled(let number):
      position.forget()
      // After a suspend, the clocks have aborted this test already, and the next one may run.
      if number == memory.number { abort(.suspended, &aborts) }
    case .testEnded(let number, let hasResult):
      guard memory.stage == .testing, number == memory.number else { return }
      memory.stage = .waiting
      memory.tally.count(hasResult: hasResult)
      memory.usage.endTest()
    case .named(let name, let isNewLoop):
      if memory.loopUUID == nil || isNewLoop, LoopMemory.isName(name) { memory.loopUUID = name }
    case .stop: end(.user, &aborts, &others)
    }
  }

  private mutating func write(at moment: LoopMoment) -> LoopEffect {
    let wall = moment.wall.flatMap { WallTime.plausible.contains($0) ? $0 : nil }
    memory.stamp = LoopStamp(bootID: bootID, boot: moment.boot.inMicroseconds, loop: clock.now, wall: wall)
    return .persist(memory)
  }

  // MARK: Aborts and ends

  private mutating func handleSuspend(at moment: LoopMoment, _ aborts: inout [LoopEffect]) {
    if sleep.wasSuspended(at: moment) {
      position.forget()
      abort(.suspended, &aborts)
    }
    if since(memory.testStarted) >= LoopRules.testLimit.inMicroseconds, start == nil { abort(.overdue, &aborts) }
  }

  /// Aborts the running test, if there is one. It counts, and the loop waits for the next one.
  private mutating func abort(_ reason: LoopAbort, _ aborts: inout [LoopEffect]) {
    guard memory.stage == .testing else { return }
    memory.stage = .waiting
    memory.tally.countAbort()
    memory.usage.endTest()
    aborts.append(.abortTest(number: memory.number, reason))
  }

  /// The test that the latest step aborted had its result before, as during its QoS tests: it counts as completed. Call this before the step's
  /// ``LoopEffect/persist(_:)`` runs, and persist ``memory``.
  mutating func countResultOfAborted() { memory.tally.countResultOfAborted() }

  private mutating func end(_ reason: LoopEnd, _ aborts: inout [LoopEffect], _ others: inout [LoopEffect]) {
    abort(.ended, &aborts)
    memory.stage = .ended(reason)
    others.append(.ended(reason))
  }

  private var passedLimit: LoopEnd? {
    if clock.now >= rules.duration.inMicroseconds { return .duration }
    return memory.stage == .waiting && memory.number >= rules.count ? .count : nil
  }

  // MARK: The decision

  private mutating func decide(at moment: LoopMoment, _ others: inout [LoopEffect]) {
    if passedLimit == .count {
      memory.stage = .ended(.count)
      others.append(.ended(.count))
      return
    }
    noteCondition()
    guard !isClosed, memory.stage == .waiting, memory.isDue else { return }
    if let hold = hold(at: moment) {
      guard memory.notices.give(hold, at: clock.now) else { return }
      others.append(.notice(notice(of: hold, at: moment)))
    } else {
      others.append(startTest())
    }
  }

  /// Time or distance reached during a test starts the next test right after it. A reached condition stays reached: the device may have
  /// turned around while a test could not start.
  private mutating func noteCondition() {
    guard memory.number > 0 else { return }
    if let every = rules.every, since(memory.testStarted) >= every.inMicroseconds { memory.isDue = true }
    guard let distance = rules.distance, let here = position.current(at: clock.now) else { return }
    if let place = memory.place {
      if place.distance(to: here) >= distance { memory.isDue = true }
    } else {
      // The rules of an earlier process may not have needed a place.
      memory.place = here
    }
  }

  /// Why a test that is due cannot start; `nil` when it can.
  private func hold(at moment: LoopMoment) -> LoopHold? {
    if memory.isPaused || sleep.isAsleep { return .inactive }
    if otherLink != nil, !rules.allowsOtherLinks { return .otherLink }
    if rules.distance != nil, position.current(at: clock.now) == nil { return .noFix }
    return memory.usage.hold(by: rules.data, at: moment.wall)
  }

  private mutating func startTest() -> LoopEffect {
    memory.number += 1
    memory.stage = .testing
    memory.isDue = false
    memory.testStarted = clock.now
    memory.place = position.current(at: clock.now)
    memory.notices.testStarted()
    memory.usage.beginTest()
    return .startTest(number: memory.number, loopUUID: memory.loopUUID)
  }

  private func notice(of hold: LoopHold, at moment: LoopMoment) -> LoopNotice {
    let isMonth = hold == .monthLimit
    return LoopNotice(
      number: memory.number + 1, hold: hold,
      used: isMonth ? memory.usage.usedInMonth(at: moment.wall) : memory.usage.usedInDay(at: moment.wall),
      limit: (isMonth ? rules.data.month : rules.data.day) ?? 0,
      isDateKnown: moment.wall.map(WallTime.plausible.contains) ?? false,
      otherLink: hold == .otherLink ? otherLink : nil)
  }

  private func since(_ time: Int64) -> Int64 { clock.now.saturatingSubtracting(time) }

  // MARK: Time

  private mutating func nextWake(at moment: LoopMoment) -> [LoopEffect] {
    guard !isOver, let next = wakeTimes(at: moment).min(), next != wakeAt else { return [] }
    wakeAt = next
    return [.wake(at: next)]
  }

  /// When time alone can change the decision.
  private func wakeTimes(at moment: LoopMoment) -> [Duration] {
    var times = [clock.boot(at: rules.duration.inMicroseconds)]
    if let remaining = sleep.remaining(at: moment) { times.append(moment.boot + remaining) }
    if memory.stage == .testing {
      times.append(clock.boot(at: memory.testStarted.saturatingAdding(LoopRules.testLimit.inMicroseconds)))
    } else if !memory.isDue, let every = rules.every {
      times.append(clock.boot(at: memory.testStarted.saturatingAdding(every.inMicroseconds)))
    } else if memory.isDue, let hold = hold(at: moment) {
      if let notice = memory.notices.next(hold) { times.append(clock.boot(at: notice)) }
      // The date can change at any time, also by a clock that is set.
      if hold == .dayLimit || hold == .monthLimit {
        times.append(clock.boot(at: (clock.now / 60_000_000 + 1) * 60_000_000))
      }
    }
    return times
  }
}
