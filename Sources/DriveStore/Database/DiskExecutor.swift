import Dispatch

/// Runs an actor that reads and writes files on a thread of its own: the threads that all tasks of the process share must not wait for a
/// disk. A sync of a slow card can take seconds.
///
///     actor Journal {
///       private let disk = DiskExecutor("journal")
///       nonisolated var unownedExecutor: UnownedSerialExecutor { disk.asUnownedSerialExecutor() }
///     }
public final class DiskExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// - Parameter label: Names the thread in a debugger.
  public init(_ label: String) {
    queue = DispatchQueue(label: "disk.\(label)", qos: .userInitiated)
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
