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
