import Coverage
import Synchronization

/// Reports the load of a test's phases to the coverage drive beside it. All threads of the test report to it.
final class LoadReport: Sendable {
  private let observer: (any TestObserver)?
  private let entered = Mutex<Set<SpeedTestProgress.Phase>>([])

  init(_ observer: (any TestObserver)?) { self.observer = observer }

  /// A thread enters a phase; the first one counts.
  func enter(_ phase: SpeedTestProgress.Phase) {
    entered.withLock { entered in
      guard entered.insert(phase).inserted else { return }
      // The pre-test before it loads the link in the same direction: the part begins again, and its delays are those from here on.
      if phase.isMain { observer?.test(loads: nil) }
      observer?.test(loads: phase.load)
    }
  }

  /// The delays of the test: not those under a pre-test without a main phase behind it.
  func measured(_ delays: [SpeedTestDelay]) -> [SpeedTestDelay] {
    let entered = entered.withLock { $0 }
    return delays.filter { delay in
      switch delay.part {
      case .idle: true
      case .download: entered.contains(.download)
      case .upload: entered.contains(.upload)
      }
    }
  }
}

extension SpeedTestProgress.Phase {
  /// The direction in which the test loads the link in this phase.
  fileprivate var load: SpeedTestDelay.Part? {
    switch self {
    case .downloadPreTest, .download: .download
    case .uploadPreTest, .upload: .upload
    case .connecting, .ping, .closing: nil
    }
  }

  fileprivate var isMain: Bool { self == .download || self == .upload }
}
