/// A horizontal accuracy at 68 % confidence, as phones report it, from gpsd's figures (docs/accuracy.md).
struct HorizontalAccuracy: Hashable, Sendable {
  /// The radius in metres that contains 68 % of the positions; `nil` when unknown.
  let metres: Double?
  /// How ``metres`` was computed.
  let rule: AccuracyRule

  /// From 95 % to 68 % of a Rayleigh-distributed radius: 2.4477 / 1.5096.
  static let radiusFrom95To68 = 1.62
  /// From 95 % to 68 % of a normal distribution.
  static let axisFrom95To68 = 1.96
  /// Metres for each unit of HDOP. The product is an estimate of the 68 % radius.
  static let metresPerHDOP = 5.0

  /// The accuracy from `figures`. Zero and negative figures count as absent.
  init(_ figures: ErrorFigures) {
    let (estimate, rule) = Self.estimate(figures)
    self.rule = rule
    metres = estimate.map { max($0, Self.floor(status: figures.status)) }
  }

  /// The smallest radius of a kind of solution in metres; smaller figures of a receiver are not plausible (docs/accuracy.md).
  static func floor(status: Int?) -> Double {
    switch status {
    case 3: 0.02
    case 4: 0.2
    case 2, 9: 0.5
    default: 1
    }
  }

  private static func estimate(_ figures: ErrorFigures) -> (Double?, AccuracyRule) {
    if let sigma = figures.gst?.horizontal { return (sigma, .gst) }
    let eph = figures.eph.asErrorEstimate
    let axes = figures.axes
    if let axes, figures.axesAreOwn { return (axes, .gbs) }
    if let eph {
      if let hdop = figures.dilutionBehindEPH { return (hdop * metresPerHDOP, .ephFromHDOP) }
      switch EstimateScale(driver: figures.driver) {
      case .sigma: return (eph, .ephSigma)
      case .radius95: return (eph / radiusFrom95To68, .ephRadius95)
      case .axis95: return (eph / axisFrom95To68, .ephAxis95)
      case nil: return (eph, .ephUnknown)
      }
    }
    if let axes {
      let factor = figures.factorBehindAxes
      return factor.map { (axes / $0 * metresPerHDOP, .axesFromHDOP) } ?? (axes, .axesUnknown)
    }
    if let hdop = figures.hdop { return (hdop * metresPerHDOP, .hdop) }
    return (nil, .none)
  }
}

/// How gpsd's figures become a 68 % radius (docs/accuracy.md). The raw value is with each fix in the drive log.
public enum AccuracyRule: String, Hashable, Sendable, CaseIterable {
  /// The receiver's own standard deviations from a GST report: the root of the sum of their squares.
  case gst
  /// The receiver's own standard deviations, which gpsd reports as `epx` and `epy` (NMEA GBS): the root of the sum of their squares.
  case gbs
  /// `eph` is gpsd's estimate from HDOP, 19.0 or 4.75 times HDOP: HDOP times ``HorizontalAccuracy/metresPerHDOP``.
  case ephFromHDOP = "eph-from-hdop"
  /// `eph` is the receiver's own standard deviation, because its driver reports that: unchanged.
  case ephSigma = "eph-sigma"
  /// `eph` is a radius that gpsd's driver scaled to 95 %: divided by 1.62.
  case ephRadius95 = "eph-95-radius"
  /// `eph` is a figure that gpsd's driver scaled by 1.96: divided by 1.96.
  case ephAxis95 = "eph-95-axis"
  /// The confidence of `eph` is unknown: unchanged, which never makes it too small.
  case ephUnknown = "eph-unknown"
  /// `epx` and `epy` are gpsd's estimate, 15 or 3.75 times their dilutions: treated like HDOP.
  case axesFromHDOP = "epx-epy-from-hdop"
  /// The confidence of `epx` and `epy` is unknown: the root of the sum of their squares, which never makes it too small.
  case axesUnknown = "epx-epy-unknown"
  /// SKY `hdop` times ``HorizontalAccuracy/metresPerHDOP``.
  case hdop
  /// The receiver gave no figure: the accuracy is unknown.
  case none

  /// The figure from which the accuracy was computed.
  public var source: AccuracySource {
    switch self {
    case .gst: .gst
    case .ephFromHDOP, .ephSigma, .ephRadius95, .ephAxis95, .ephUnknown: .eph
    case .gbs, .axesFromHDOP, .axesUnknown: .epxEpy
    case .hdop: .hdop
    case .none: .none
    }
  }
}

/// The figure of gpsd from which an accuracy was computed. The raw value is with each fix in the drive log.
public enum AccuracySource: String, Hashable, Sendable, CaseIterable {
  /// A GST report.
  case gst
  /// TPV `eph`.
  case eph
  /// TPV `epx` and `epy` together.
  case epxEpy = "epx-epy"
  /// SKY `hdop`.
  case hdop
  /// No figure: the accuracy is unknown.
  case none
}
