import Foundation

/// The distribution of a share: the regularized incomplete beta function I_x(a, b). Student's t follows from it (``StudentT``).
enum BetaDistribution {
  /// P(X ≤ `x`) for X with the parameters `a` and `b`, both above 0.
  static func probability(_ x: Double, _ a: Double, _ b: Double) -> Double {
    guard x > 0 else { return 0 }
    guard x < 1 else { return 1 }
    // The continued fraction converges quickly below the mean only.
    if x > (a + 1) / (a + b + 2) { return 1 - probability(1 - x, b, a) }
    let logarithm = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    return min(1, exp(logarithm) / a / fraction(x, a, b))
  }

  /// The x with P(X ≤ x) = `probability`.
  static func quantile(_ probability: Double, _ a: Double, _ b: Double) -> Double {
    Bisection.last(in: 0...1) { Self.probability($0, a, b) <= probability }
  }

  /// The denominator of the continued fraction (DLMF 8.17.22) by Lentz's method.
  private static func fraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
    let tiny = 1e-300
    var (value, upper, lower) = (1.0, 1.0, 0.0)
    for step in 1...100_000 {
      let (m, isEven) = (Double(step / 2), step.isMultiple(of: 2))
      let term =
        isEven
        ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
      lower = 1 + term * lower
      lower = 1 / (abs(lower) < tiny ? tiny : lower)
      upper = 1 + term / upper
      if abs(upper) < tiny { upper = tiny }
      value *= upper * lower
      if abs(upper * lower - 1) < 1e-15 { break }
    }
    return value
  }
}

/// Student's t: the distribution of an estimate divided by its estimated standard error.
enum StudentT {
  /// The probability of a value at least this far from 0, on both sides.
  /// - Parameter freedom: The degrees of freedom, above 0; need not be whole.
  static func probability(_ value: Double, freedom: Double) -> Double {
    BetaDistribution.probability(freedom / (freedom + value * value), freedom / 2, 0.5)
  }

  /// The value that is exceeded on each side with a probability of 2.5 %.
  static func quantile(freedom: Double) -> Double {
    Bisection.last(in: 0...1000) { probability($0, freedom: freedom) >= 0.05 }
  }

  /// The same of the normal distribution.
  static let normalQuantile = 1.959963984540054
}

/// Finds where a condition ends.
enum Bisection {
  /// The last value for which `isBefore` holds, when it holds up to a value and never after; exact to the last bits.
  static func last(in range: ClosedRange<Double>, _ isBefore: (Double) -> Bool) -> Double {
    var (low, high) = (range.lowerBound, range.upperBound)
    for _ in 0..<100 {
      let middle = low + (high - low) / 2
      guard middle > low, middle < high else { break }
      if isBefore(middle) { low = middle } else { high = middle }
    }
    return low
  }
}
