/// Writes one after the other, in the order in which they were asked for: who asks last is written last, whoever waits for what.
struct OrderedWrites {
  private var last: Task<Void, any Error>?

  /// Begins `write` when the one before has ended, well or not; it is not cancelled with its caller.
  mutating func begin(_ write: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    let task = Task { [last] in
      _ = await last?.result
      try await write()
    }
    last = task
    return task
  }
}
