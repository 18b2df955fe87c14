import Synchronization

/// The signals of a drive's sources on their way to its ``DriveRunner``, in one order.
///
/// The sources' threads put signals in, and the runner is woken on its own executor. An `AsyncStream` would wake a thread more for each signal:
/// its iterator leaves the actor that waits for it.
final class DriveInbox: Sendable {
  private struct State {
    var signals: [DriveSignal] = []
    var wake: (@Sendable () -> Void)?
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Puts a signal in, and wakes the reader if there was none before it.
  /// - Returns: `false` after ``close()``: the signal is dropped.
  @discardableResult
  func put(_ signal: DriveSignal) -> Bool {
    let (isOpen, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      guard !state.isClosed else { return (false, nil) }
      state.signals.append(signal)
      return (true, state.signals.count == 1 ? state.wake : nil)
    }
    wake?()
    return isOpen
  }

  /// - Parameter wake: Called when there are signals to handle, on the thread of a source: must return at once.
  func open(_ wake: @escaping @Sendable () -> Void) {
    let isWaiting = state.withLock { state in
      state.wake = wake
      return !state.signals.isEmpty
    }
    if isWaiting { wake() }
  }

  /// Removes and returns all signals, oldest first.
  func drain() -> [DriveSignal] {
    state.withLock { state in
      defer { state.signals.removeAll() }
      return state.signals
    }
  }

  /// Drops the signals in the inbox and all later signals.
  func close() {
    state.withLock { $0 = State(isClosed: true) }
  }
}
