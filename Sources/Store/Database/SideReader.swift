import Dispatch
import GRDB

/// Reads the store beside its writer, on a read-only connection and its own thread, so that no fence and no task of
/// the process waits for it. The first read opens the connection.
final class SideReader: @unchecked Sendable {
  /// Opens the connection; `nil` when there is no complete store.
  typealias Connecting = @Sendable () throws -> DatabaseQueue?

  private let connect: Connecting
  private let thread: DispatchQueue
  private let interruption = ReadInterruption()
  /// Used on ``thread`` only.
  private var connection: DatabaseQueue?

  /// - Parameters:
  ///   - label: The name of the thread in a debugger.
  ///   - connect: Opens the connection.
  init(_ label: String, connect: @escaping Connecting) {
    self.connect = connect
    thread = DispatchQueue(label: "disk.\(label)", qos: .utility)
  }

  /// Runs `body` on the thread. Reads run one after the other; each sees everything written before the call.
  /// - Parameter writer: Used when there can be no connection of its own (no descriptors, no rights any more): the
  ///   writer's rights are older, and a read must not miss a store that the writer has.
  func read<Result: Sendable>(
    or writer: DatabaseQueue, _ body: @escaping @Sendable (DatabaseQueue) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      thread.async {
        self.interruption.begin()
        continuation.resume(with: Swift.Result { try body(self.connected() ?? writer) })
      }
    }
  }

  /// Ends the statement that runs now with SQLite's error for an interruption.
  func interrupt() { interruption.ask() }

  /// Ends the present read, and runs `body` while there is no connection; the next read opens another one.
  ///
  /// No connection may be open while the writer is closed and opened again. POSIX ends all locks of a process on a
  /// file when the process closes any descriptor of it, and the start reads the files without SQLite. Another process
  /// would then find a store without locks, and reset the -shm file that this connection still uses.
  func whileClosed<Result>(_ body: () throws -> Result) rethrows -> Result {
    interrupt()
    return try thread.sync {
      connection = nil
      return try body()
    }
  }

  private func connected() -> DatabaseQueue? {
    if let connection { return connection }
    // An error is not lost: the writer meets it as well, or reads.
    guard let opened = try? connect() else { return nil }
    interruption.listen(on: opened)
    connection = opened
    return opened
  }
}
