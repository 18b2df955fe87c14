/// Runs `body`, and cancels it when `stop` yields. `body` decides what a cancellation ends: a pass loses nothing.
/// - Throws: Errors of `body`.
package func untilStopped<Result: Sendable>(
  by stop: AsyncStream<Void>, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  let work = Task { try await body() }
  let watching = Task { for await _ in stop { work.cancel() } }
  defer { watching.cancel() }
  return try await work.value
}
