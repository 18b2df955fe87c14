import Synchronization

/// A number that any thread may increment.
public final class Counter: Sendable {
  private let value = Atomic(0)

  public init() {}

  /// - Returns: The new number.
  @discardableResult
  public func increment() -> Int { value.add(1, ordering: .sequentiallyConsistent).newValue }

  public var count: Int { value.load(ordering: .sequentiallyConsistent) }
}
