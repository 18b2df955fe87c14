/// Runs writes one at a time, in the order of the calls to ``begin(_:)``, so that the last value requested is the
/// last one written.
struct OrderedWrites {
  private var last: Task<Void, any Error>?

  /// Starts `write` when the previous one has ended, successfully or not. Cancelling the caller does not cancel the
  /// write.
  mutating func begin(_ write: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    let task = Task { [last] in
      _ = await last?.result
      try await write()
    }
    last = task
    return task
  }
}
