import Dispatch

/// Reads the store beside its writer, on a read-only connection and its own thread, so that no fence and no task of
/// the process waits for it. The first read opens the connection.
final class SideReader: @unchecked Sendable {
  private let directory: StateDirectory
  private let thread = DispatchQueue(label: "disk.reader", qos: .utility)
  /// Used on ``thread`` only.
  private var reader: StoreReader?

  init(_ directory: StateDirectory) { self.directory = directory }

  /// Runs `body` on the thread.
  /// - Throws: ``StoreError``, and errors of `body`.
  func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      thread.async { continuation.resume(with: Swift.Result { try body(self.connected()) }) }
    }
  }

  /// Closes the connection; the next read opens another one. Must be called when the database file was replaced.
  func reconnect() { thread.async { self.reader = nil } }

  private func connected() throws -> StoreReader {
    if let reader { return reader }
    let opened = try StoreReader(directory: directory)
    // There is no connection before the store is complete: the next read tries again.
    if opened.database != nil { reader = opened }
    return opened
  }
}
