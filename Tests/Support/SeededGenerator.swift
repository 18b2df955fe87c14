import Coverage
import Foundation

/// The same seed always gives the same numbers.
public typealias SeededGenerator = SplitMix64

extension SeededGenerator {
  /// A new seed each time, printed; `TEST_SEED` repeats an old one.
  public static let seedOfThisRun: UInt64 = {
    let given = ProcessInfo.processInfo.environment["TEST_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0...UInt64(UInt32.max))
    print("TEST_SEED=\(seed)")
    return seed
  }()
}
