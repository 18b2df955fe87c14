import Dispatch
import Synchronization

/// Something that happens once, and threads that wait for it.
///
/// Waits are measured by a clock that does not jump. Those of NSCondition and DispatchSemaphore end at a wall time: a clock that is set
/// back meanwhile makes a wait of 50 ms longer by the whole step.
package final class Latch: Sendable {
  private let group = DispatchGroup()
  private let isOpen = Atomic(false)

  package init() { group.enter() }

  /// libdispatch ends the process for a group that is deallocated before its end.
  deinit { open() }

  /// Ends all waits, those that begin later too.
  package func open() {
    if !isOpen.exchange(true, ordering: .relaxed) { group.leave() }
  }

  /// Waits until it is open, for `nanoseconds` at most.
  /// - Returns: Whether it is open.
  @discardableResult
  package func wait(nanoseconds: Int64) -> Bool {
    group.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds))) == .success
  }
}
