import Foundation

/// A figure with its 95 % interval, in the unit of the caller.
struct Estimate: Hashable, Sendable {
  /// The figure.
  let value: Double
  /// The ends of the interval.
  let lower: Double
  let upper: Double
  /// The number of independent samples that would give this interval.
  let effective: Double

  /// The fewest independent samples of the rarer kind, lost pings or received ones, for an interval of a share. With more demanded, the drives
  /// with an interval would be those with unusually many losses, and the intervals too high.
  static let fewestOfAKind = 1.0

  /// A mean of positive values. The interval is symmetric for the logarithm: delays have a long tail upwards.
  /// - Parameter deviations: The precision of the values' mean; `nil` gives `nil`.
  static func mean(_ value: Double, _ deviations: CorrelatedMean?) -> Estimate? {
    guard let deviations, deviations.isEnough, value > 0 else { return nil }
    let ratio = exp(deviations.margin / value)
    guard ratio.isFinite else { return nil }
    return Estimate(value: value, lower: value / ratio, upper: value * ratio, effective: deviations.effective)
  }

  /// A share, 0 to 1: Jeffreys' interval for the effective number of samples, which is reduced for the uncertainty of that number.
  /// - Parameter deviations: The precision of the share; `nil` gives `nil`.
  static func share(_ value: Double, _ deviations: CorrelatedMean?) -> Estimate? {
    guard let deviations, deviations.isEnough else { return nil }
    let samples = value * (1 - value) / (deviations.standardError * deviations.standardError)
    guard samples.isFinite, samples * min(value, 1 - value) >= fewestOfAKind else { return nil }
    let reduced = deviations.reduced(samples, share: value)
    let (hits, misses) = (reduced * value + 0.5, reduced * (1 - value) + 0.5)
    return Estimate(
      value: value, lower: BetaDistribution.quantile(0.025, hits, misses),
      upper: BetaDistribution.quantile(0.975, hits, misses), effective: samples)
  }
}

extension Estimate {
  /// The share of a whole that comes in pieces in the order of measuring, such as the metres from fence to fence, and the precision of that
  /// share; `nil` where there is no interval.
  static func share(ofPieces pieces: some Collection<(whole: Double, part: Double)>) -> (
    estimate: Estimate, deviations: CorrelatedMean
  )? {
    let (whole, part, count) = pieces.reduce((0.0, 0.0, 0)) { ($0.0 + $1.whole, $0.1 + $1.part, $0.2 + 1) }
    guard whole > 0 else { return nil }
    let (share, mean) = (part / whole, whole / Double(count))
    var blocks = SerialBlocks(count: count)
    for piece in pieces { blocks.add((piece.part - share * piece.whole) / mean) }
    guard let deviations = CorrelatedMean(blocks),
      let estimate = Estimate.share(share, deviations)
    else { return nil }
    return (estimate, deviations)
  }
}

extension CorrelatedMean {
  /// The degrees of freedom for a share: the error comes not only from ``freedom`` transforms, but also from a limited number of runs of the
  /// rarer kind, about twice its independent samples, whose lengths differ.
  /// - Parameter rarer: The independent samples of the rarer kind, above 0.
  func freedom(rarer: Double) -> Double { 1 / (1 / Double(freedom) + 1 / (2 * rarer)) }

  /// The samples for an interval by the normal distribution's quantile that is as wide as this one by Student's t.
  fileprivate func reduced(_ samples: Double, share: Double) -> Double {
    let ratio =
      StudentT.normalQuantile / StudentT.quantile(freedom: freedom(rarer: samples * min(share, 1 - share)))
    return samples * ratio * ratio
  }

  /// The ranks of values between which a percentile lies, when these deviations are of the share of values up to it: the shares whose interval
  /// (``Estimate/share(_:_:)``) contains the percentile. An end is `nil` when even the least or the greatest value cannot be beyond the
  /// percentile; all is `nil` when the samples do not suffice for either end.
  func ranks(around percent: Int) -> (lower: Int?, upper: Int?)? {
    let quantile = Double(percent) / 100
    guard isEnough, effective * min(quantile, 1 - quantile) >= Estimate.fewestOfAKind else { return nil }
    let samples = reduced(effective, share: quantile)
    func below(_ share: Double) -> Double {
      BetaDistribution.probability(quantile, samples * share + 0.5, samples * (1 - share) + 0.5)
    }
    func share(_ level: Double) -> Double { Bisection.last(in: 0...1) { below($0) >= level } * Double(count) }
    let lower = below(0) > 0.975 ? max(1, Int(share(0.975).rounded(.up))) : nil
    let upper = below(1) < 0.025 ? min(count, Int(share(0.025)) + 1) : nil
    return lower == nil && upper == nil ? nil : (lower, upper)
  }
}
