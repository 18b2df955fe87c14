import Foundation

/// The random orders of events for each property test. 80 by default; `RANDOM_ORDERS` in the environment sets another number
/// (tools/test --properties).
public enum RandomOrders {
  public static let count = ProcessInfo.processInfo.environment["RANDOM_ORDERS"].flatMap { Int($0) } ?? 80

  /// Every other seed is fixed; the others are new with each run.
  public static var seeds: some Sequence<UInt64> {
    (0..<UInt64(count)).lazy.map { $0.isMultiple(of: 2) ? $0 : SeededGenerator.seedOfThisRun &+ $0 }
  }
}
