import Foundation
import TestSupport

/// Values in a row that are alike: normal with variance 1, and a correlation that falls exponentially.
struct CorrelatedSeries {
  private var random: SeededGenerator
  private let memory: Double
  private var level: Double

  /// - Parameter length: The correlation time, in values; 0: independent ones.
  init(length: Double, seed: UInt64) {
    random = SeededGenerator(seed: seed)
    memory = length > 0 ? exp(-1 / length) : 0
    level = 0
    level = normal()
  }

  mutating func next() -> Double {
    level = memory * level + (1 - memory * memory).squareRoot() * normal()
    return level
  }

  mutating func values(_ count: Int) -> [Double] { (0..<count).map { _ in next() } }

  /// States that last by the same law; `true` with a probability of `share`.
  mutating func states(_ count: Int, share: Double) -> [Bool] {
    var state = Double.random(in: 0..<1, using: &random) < share
    return (0..<count).map { _ in
      if Double.random(in: 0..<1, using: &random) >= memory { state = Double.random(in: 0..<1, using: &random) < share }
      return state
    }
  }

  private mutating func normal() -> Double {
    (-2 * log(Double.random(in: 1e-15...1, using: &random))).squareRoot()
      * cos(2 * Double.pi * Double.random(in: 0..<1, using: &random))
  }
}
