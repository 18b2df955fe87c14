import Synchronization

@testable import SpeedTest

/// The reports of a run.
final class ProgressLog: Sendable {
  private let reports = Mutex<[QoSProgress]>([])

  func add(_ progress: QoSProgress) { reports.withLock { $0.append(progress) } }

  var all: [QoSProgress] { reports.withLock { $0 } }
}
