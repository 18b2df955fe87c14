import Foundation

/// Values in the order of measuring, less their mean, as sums of blocks: all that ``CorrelatedMean`` needs, whatever their number.
struct SerialBlocks {
  /// The most blocks. A correlation that is shorter than a block does no harm: all are sums over it.
  static let most = 256

  let count: Int
  /// The sum of each block: of equally many values, or one more.
  private(set) var sums: [Double]
  /// The sum of the squares of all values.
  private(set) var squares = 0.0
  private var (added, block, end) = (0, 0, 0)

  /// - Parameter count: The number of values that will be added.
  init(count: Int) {
    self.count = count
    sums = Array(repeating: 0, count: min(count, Self.most))
    end = sums.isEmpty ? 0 : count / sums.count
  }

  /// The values of an array.
  init(_ values: [Double]) {
    self.init(count: values.count)
    for value in values { add(value) }
  }

  mutating func add(_ value: Double) {
    if added >= end, block + 1 < sums.count {
      block += 1
      end = (block + 1) * count / sums.count
    }
    added += 1
    sums[block] += value
    squares += value * value
  }
}

/// How far the mean of correlated values can be from the true one. Pings in a row are alike, so that thousands of them can say as little as
/// ten independent ones (docs/report.md, Intervals).
///
/// The variance of the mean is the spectrum of the values at frequency 0, estimated as the mean of their lowest `freedom` cosine transforms
/// (equal-weighted cosines; Müller 2004; Lazarus, Lewis, Stock and Watson 2018). With that many transforms, the mean divided by its error has
/// Student's t distribution with `freedom` degrees. The longer the correlation, the fewer transforms are flat enough; it is measured by the
/// sum of autocorrelations up to the first pair that is not positive (Geyer 1992).
struct CorrelatedMean: Hashable, Sendable {
  let count: Int
  /// The standard error of the mean.
  let standardError: Double
  /// The degrees of freedom of that error.
  let freedom: Int
  /// The number of blocks, divided by the correlation between them: about the duration divided by twice the correlation time.
  let independent: Double
  /// The number of independent values whose mean has this error. It can exceed ``count``: a value too high, then one too low.
  let effective: Double
  /// About the number of independent values that make up the variance: 1 if all of it is a single outlier.
  let events: Double

  /// Fewer values have no interval: their correlation cannot be measured.
  static let fewest = 20
  /// A shorter series, in ``independent``, has no interval.
  static let leastIndependent = 6.0
  /// The least and the most transforms. With fewer, an interval is several times wider than with many; with more, it is no narrower.
  private static let transforms = 4...24
  /// Transforms for each independent block. At this number, the spectrum of an exponential correlation has fallen by 6 %.
  private static let transformsPerBlock = 0.27

  /// `nil` for fewer than ``fewest`` values, and when all are equal.
  /// - Parameter mostIndependent: The ``independent`` of values whose correlation is known to be as long.
  init?(_ blocks: SerialBlocks, mostIndependent: Double = .infinity) {
    let size = blocks.sums.count
    guard blocks.count >= Self.fewest else { return nil }
    let centre = blocks.sums.reduce(0, +) / Double(size)
    let sums = blocks.sums.map { $0 - centre }
    let (squares, fourths) = sums.reduce(into: (0.0, 0.0)) { sum, value in
      sum.0 += value * value
      sum.1 += value * value * value * value
    }
    guard squares > 0, fourths > 0 else { return nil }
    count = blocks.count
    independent = min(Double(size) / Self.correlation(of: sums, squares: squares), mostIndependent)
    freedom = min(
      max(Int(Self.transformsPerBlock * independent), Self.transforms.lowerBound), Self.transforms.upperBound)
    var power = 0.0
    for frequency in 1...freedom {
      let step = Double.pi * Double(frequency) / Double(size)
      let transform = sums.indices.reduce(0.0) { $0 + sums[$1] * cos(step * (Double($1) + 0.5)) }
      power += transform * transform
    }
    // An exponential correlation lowers the transforms, compared with frequency 0, by this much.
    let slope = Double.pi * Double(freedom) / (2 * independent)
    let number = Double(blocks.count)
    let spectrum = 2 / number * power / Double(freedom) * (1 + slope * slope / 3)
    standardError = (spectrum / number).squareRoot()
    guard standardError > 0 else { return nil }
    effective = blocks.squares / spectrum
    events = squares * squares / fourths * independent / Double(size)
  }

  /// The sum of all autocorrelations, at least 1.
  private static func correlation(of sums: [Double], squares: Double) -> Double {
    func product(_ lag: Int) -> Double {
      (0..<sums.count - lag).reduce(0) { $0 + sums[$1] * sums[$1 + lag] }
    }
    var (total, least) = (0.0, Double.infinity)
    for lag in stride(from: 0, to: sums.count - 1, by: 2) {
      let pair = (product(lag) + product(lag + 1)) / squares
      guard pair > 0 else { break }
      least = min(least, pair)
      total += least
    }
    return max(1, 2 * total - 1)
  }

  /// Whether the series is long enough, measured by its correlation, for an interval.
  var isEnough: Bool { independent >= Self.leastIndependent }

  /// Half the width of the 95 % interval of the mean.
  var margin: Double { StudentT.quantile(freedom: Double(freedom)) * standardError }
}
