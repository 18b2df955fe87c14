/// The clocks that a loop depends on. Tests replace them.
public struct LoopHost: Sendable {
  let bootID: String
  let moment: @Sendable () -> LoopMoment
  let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - bootID: The kernel's random id of this boot.
  ///   - sleep: Suspends for a duration of CLOCK_BOOTTIME; throws `CancellationError` when its task is cancelled.
  ///   - moment: Reads the clocks.
  public init(
    bootID: String, sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    moment: @escaping @Sendable () -> LoopMoment
  ) {
    (self.bootID, self.sleep, self.moment) = (bootID, sleep, moment)
  }
}
