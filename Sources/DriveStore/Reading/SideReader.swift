import Dispatch

/// Reads the store beside its writer: on a read-only connection and a thread of its own, so that neither a fence nor a task of the process
/// waits for it. The connection is opened with the first read.
final class SideReader: @unchecked Sendable {
  private let directory: StateDirectory
  private let thread = DispatchQueue(label: "disk.reader", qos: .utility)
  /// Used by ``thread`` only.
  private var reader: StoreReader?

  init(_ directory: StateDirectory) { self.directory = directory }

  /// - Throws: ``StoreError``, and what `body` throws.
  func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      thread.async { continuation.resume(with: Swift.Result { try body(self.connected()) }) }
    }
  }

  /// Closes the connection; the next read opens another one. To be called when the file was replaced.
  func reconnect() { thread.async { self.reader = nil } }

  private func connected() throws -> StoreReader {
    if let reader { return reader }
    let opened = try StoreReader(directory: directory)
    // Without a complete store there is no connection: the next read looks again.
    if opened.database != nil { reader = opened }
    return opened
  }
}
