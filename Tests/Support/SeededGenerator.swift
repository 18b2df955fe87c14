import Foundation

/// SplitMix64: the same seed always gives the same numbers.
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A new seed each time, printed; `TEST_SEED` repeats an old one.
  public static let seedOfThisRun: UInt64 = {
    let given = ProcessInfo.processInfo.environment["TEST_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0...UInt64(UInt32.max))
    print("TEST_SEED=\(seed)")
    return seed
  }()
}
