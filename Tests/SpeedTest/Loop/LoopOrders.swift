import Foundation
import TestSupport

/// The random orders of a loop's inputs. 100 by default; `RANDOM_ORDERS` in the environment sets another
/// number, and `LOOP_DEPTH` the depth of the complete orders.
enum LoopOrders {
  static let count = ProcessInfo.processInfo.environment["RANDOM_ORDERS"].flatMap { Int($0) } ?? 100
  static let depth = ProcessInfo.processInfo.environment["LOOP_DEPTH"].flatMap { Int($0) } ?? 3

  /// Every other seed is the same each time, the others are new with each run.
  static var seeds: some Sequence<UInt64> { seeds(count) }

  /// The same with another number of seeds.
  static func seeds(_ count: Int) -> some Sequence<UInt64> {
    (0..<UInt64(count)).lazy.map { $0.isMultiple(of: 2) ? $0 : SeededGenerator.seedOfThisRun &+ $0 }
  }
}
