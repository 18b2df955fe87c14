import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Runs an actor that reads and writes files on a serial queue of its own: a sync of a slow card can take seconds, and must
/// not block the threads that all tasks of the process share.
///
///     actor Journal {
///       private let disk = DiskExecutor("journal")
///       nonisolated var unownedExecutor: UnownedSerialExecutor { disk.asUnownedSerialExecutor() }
///     }
public final class DiskExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Creates the thread's queue.
  /// - Parameter label: The name of the thread in a debugger.
  public init(_ label: String) {
    queue = DispatchQueue(label: "disk.\(label)", qos: .userInitiated)
  }

  /// Runs `job` after all earlier ones.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  /// A function that runs `work` after all earlier jobs: several calls before it begins count as one. Inside, the executor's
  /// actors can assume their isolation.
  ///
  /// Not a closure for each call: libdispatch keeps the memory of a thousand of them in each thread that frees what another one
  /// allocated.
  public func signal(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    // libdispatch's objects are for all threads.
    nonisolated(unsafe) let source = DispatchSource.makeUserDataOrSource(queue: queue)
    source.setEventHandler(handler: work)
    source.activate()
    return { source.or(data: 1) }
  }

  /// Runs `work` after all earlier jobs. The calling task waits for it; its thread does not.
  /// - Throws: The error of `work`.
  public func execute<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { (waiting: CheckedContinuation<Result<Value, Failure>, Never>) in
      queue.async { waiting.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }

  /// The executor as actors refer to it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Traps when the caller is not on this executor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// Ends a long read from another thread.
///
/// sqlite3_interrupt can also hit the statement that ends the read's transaction. The transaction then stays open, which GRDB answers with the
/// end of the process. A progress handler cannot: ending a transaction takes fewer steps than it waits for.
final class ReadInterruption: Sendable {
  private let wasAsked = Atomic(false)

  /// Whether the present read is to end.
  var isAsked: Bool { wasAsked.load(ordering: .sequentiallyConsistent) }

  /// Instructions of SQLite's machine between two looks: some microseconds; the end of a transaction has about ten.
  private static let steps: CInt = 1000

  /// A read begins; an earlier request was not meant for it.
  func begin() { wasAsked.store(false, ordering: .sequentiallyConsistent) }

  /// Asks the present read to end.
  func ask() { wasAsked.store(true, ordering: .sequentiallyConsistent) }

  /// Ends statements of `connection` on request. This object must outlive the connection.
  func listen(on connection: DatabaseQueue) {
    connection.inDatabase { database in
      sqlite3_progress_handler(
        database.sqliteConnection, Self.steps,
        { context in
          guard let context else { return 0 }
          let own = Unmanaged<ReadInterruption>.fromOpaque(context).takeUnretainedValue()
          return own.isAsked ? 1 : 0
        }, Unmanaged.passUnretained(self).toOpaque())
    }
  }
}
