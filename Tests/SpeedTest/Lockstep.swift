import Foundation

/// Lets each connection do a step before the clock moves. Otherwise a connection that is scheduled late would find the phase over.
final class Lockstep: @unchecked Sendable {
  private let condition = NSCondition()
  private let clock: StepClock
  private var members: Set<Int> = []
  private var arrived: Set<Int> = []
  private var rounds = 0
  private var seconds = 0.0

  init(_ clock: StepClock) { self.clock = clock }

  func join(_ member: Int) { condition.withLock { _ = members.insert(member) } }

  func leave(_ member: Int) {
    condition.withLock {
      members.remove(member)
      arrived.remove(member)
      endRound()
    }
  }

  /// Waits until all members came, 5 minutes at most. The last one moves the clock.
  func step(_ member: Int, seconds: Double) {
    condition.withLock {
      guard members.contains(member) else { return clock.advance(seconds: seconds) }
      self.seconds = seconds
      arrived.insert(member)
      let (round, limit) = (rounds, Date(timeIntervalSinceNow: 300))
      endRound()
      while rounds == round, condition.wait(until: limit) {}
    }
  }

  private func endRound() {
    guard !arrived.isEmpty, arrived == members else { return }
    arrived = []
    rounds += 1
    clock.advance(seconds: seconds)
    condition.broadcast()
  }
}
