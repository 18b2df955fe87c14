import Foundation

/// A difference between two selections with its 95 % interval and its test, second less first, in the unit of the caller.
struct Difference: Hashable, Sendable {
  /// The difference.
  let effect: Double
  /// The ends of its interval.
  let lower: Double
  let upper: Double
  /// The probability of a difference at least as large if there is none; two-sided.
  let probability: Double
  /// The number of independent places or samples that would give this interval.
  let effective: Double

  init(effect: Double, lower: Double, upper: Double, probability: Double, effective: Double) {
    (self.effect, self.lower, self.upper) = (effect, lower, upper)
    (self.probability, self.effective) = (probability, effective)
  }

  /// A difference of means: one of pairs, or of two shares.
  /// - Parameters:
  ///   - standardError: Above 0.
  ///   - freedom: The degrees of freedom of that error.
  init(effect: Double, standardError: Double, freedom: Double, effective: Double) {
    let margin = StudentT.quantile(freedom: freedom) * standardError
    self.init(
      effect: effect, lower: effect - margin, upper: effect + margin,
      probability: StudentT.probability(effect / standardError, freedom: freedom), effective: effective)
  }

  /// The difference in another unit.
  /// - Parameter factor: Above 0.
  func scaled(_ factor: Double) -> Difference {
    Difference(
      effect: effect * factor, lower: lower * factor, upper: upper * factor, probability: probability,
      effective: effective)
  }

  /// The difference of two shares of independent selections. `nil` when one of them has no interval.
  init?(
    _ first: (estimate: Estimate, deviations: CorrelatedMean)?,
    _ second: (estimate: Estimate, deviations: CorrelatedMean)?
  ) {
    guard let first, let second else { return nil }
    let error = Welch(
      [first, second].map { side in
        let rarer = side.estimate.effective * min(side.estimate.value, 1 - side.estimate.value)
        return (side.deviations.standardError, side.deviations.freedom(rarer: rarer))
      })
    self.init(
      effect: second.estimate.value - first.estimate.value, standardError: error.standardError, freedom: error.freedom,
      effective: min(first.estimate.effective, second.estimate.effective))
  }
}

/// The standard error of a difference of two independent estimates, with its degrees of freedom after Welch and Satterthwaite.
struct Welch {
  let standardError: Double
  let freedom: Double

  /// - Parameter sides: The standard error of each, above 0, with its degrees of freedom.
  init(_ sides: [(standardError: Double, freedom: Double)]) {
    let variances = sides.map { $0.standardError * $0.standardError }
    let sum = variances.reduce(0, +)
    standardError = sum.squareRoot()
    freedom = sum * sum / zip(variances, sides).reduce(0) { $0 + $1.0 * $1.0 / $1.1.freedom }
  }
}

/// The result of a test in words.
enum Verdict: String, Hashable, Sendable {
  /// The difference is significant, and at least as large as the least one that matters.
  case different
  /// The data are compatible with no difference of the least size.
  case notShown = "no difference shown"
  /// The interval has no difference that matters.
  case tooSmall = "too small to matter"
  /// There is no test.
  case notEnough = "not enough samples"
}

/// A tested figure of a comparison.
struct Finding: Sendable {
  /// The figures that are compared. The order is that of the report.
  enum Figure: String, CaseIterable, Sendable {
    case delay, loss, coverage, download, upload, ping

    /// That of ``Finding/difference``, as a report shows it.
    var unit: String {
      switch self {
      case .delay, .ping: "ms"
      case .loss, .coverage: "percentage points"
      case .download, .upload: "Mbit/s"
      }
    }
  }

  let figure: Figure
  /// `nil` when the samples do not suffice.
  let difference: Difference?
  /// The probability after Holm's correction for all tests of the report; `nil` without a test.
  let corrected: Double?
  /// The least difference that matters, in the unit of ``difference``; at least 0.
  let least: Double

  /// The level of all tests of a report together.
  static let level = 0.05

  var verdict: Verdict {
    guard let difference, let corrected else { return .notEnough }
    if corrected < Self.level, abs(difference.effect) >= least { return .different }
    return max(abs(difference.lower), abs(difference.upper)) < least ? .tooSmall : .notShown
  }

  /// The findings of a report, corrected together.
  static func all(_ tests: [(figure: Figure, difference: Difference?, least: Double)]) -> [Finding] {
    let corrected = Holm.corrected(tests.map(\.difference?.probability))
    return zip(tests, corrected).map {
      Finding(figure: $0.figure, difference: $0.difference, corrected: $1, least: $0.least)
    }
  }
}

/// Holm's correction: with it, the probability that any of several tests finds a difference where there is none stays below the level.
enum Holm {
  /// The corrected probabilities in the order of `probabilities`; `nil` stays `nil` and counts as no test.
  static func corrected(_ probabilities: [Double?]) -> [Double?] {
    let order = probabilities.indices.filter { probabilities[$0] != nil }
      .sorted { (probabilities[$0] ?? 1, $0) < (probabilities[$1] ?? 1, $1) }
    var (result, greatest) = ([Double?](repeating: nil, count: probabilities.count), 0.0)
    for (place, index) in order.enumerated() {
      greatest = max(greatest, min(1, (probabilities[index] ?? 1) * Double(order.count - place)))
      result[index] = greatest
    }
    return result
  }
}

/// The least differences that matter to a reader: smaller ones are not called different (docs/report.md, Comparison).
public struct LeastDifferences: Hashable, Sendable {
  /// Of delays, in milliseconds; at least 0.
  public var delayMilliseconds: Double
  /// Of losses, in percentage points; at least 0.
  public var lossPoints: Double
  /// Of shares of the distance with coverage, in percentage points; at least 0.
  public var coveragePoints: Double

  /// The defaults have their reasons in docs/report.md.
  public init(delayMilliseconds: Double = 5, lossPoints: Double = 1, coveragePoints: Double = 2) {
    self.delayMilliseconds = delayMilliseconds
    (self.lossPoints, self.coveragePoints) = (lossPoints, coveragePoints)
  }
}
