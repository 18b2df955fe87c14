/// A horizontal accuracy at the confidence of phones (68 %), from what gpsd gives (docs/accuracy.md).
public struct HorizontalAccuracy: Hashable, Sendable {
  /// Radius in metres that holds 68 % of the positions; `nil` when unknown.
  public let metres: Double?
  public let rule: AccuracyRule

  /// From 95 % to 68 % of a Rayleigh-distributed radius: 2.4477 / 1.5096.
  public static let radiusFrom95To68 = 1.62
  /// From 95 % to 68 % of a normal distribution.
  public static let axisFrom95To68 = 1.96
  /// Metres for one unit of HDOP; that product is a 68 % guess as it stands.
  public static let metresPerHDOP = 5.0
  /// What gpsd multiplies HDOP by for `eph`, without and with DGPS.
  static let ephPerHDOP = [19.0, 4.75]
  /// What gpsd multiplies XDOP and YDOP by for `epx` and `epy`, without and with DGPS.
  static let axisPerDOP = [15.0, 3.75]

  /// Zero and negative figures count as absent: no receiver is that good.
  public init(_ figures: ErrorFigures) {
    let (estimate, rule) = Self.estimate(figures)
    self.rule = rule
    metres = estimate.map { max($0, Self.floor(status: figures.status)) }
  }

  /// The least accuracy that a kind of solution can have, whatever the receiver says, in metres (docs/accuracy.md).
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
    let eph = possible(figures.eph)
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

  static func possible(_ estimate: Double?) -> Double? {
    guard let estimate, estimate.isFinite, estimate > 0 else { return nil }
    return estimate
  }
}

/// What gpsd says of a position's horizontal error, in metres, as it says it.
public struct ErrorFigures: Hashable, Sendable {
  /// Of the TPV.
  public var eph: Double?
  public var epx: Double?
  public var epy: Double?
  public var status: Int?
  /// The receiver's driver, as gpsd names it in DEVICE.
  public var driver: String?
  /// The receiver's recent dilutions, newest first: a TPV is made with those of its epoch, and the SKY that shows them can come before or
  /// after it.
  public var dilutions: [Dilution]
  /// The receiver's standard deviations for this epoch.
  public var gst: GSTReport?

  public init(
    eph: Double? = nil, epx: Double? = nil, epy: Double? = nil, status: Int? = nil, driver: String? = nil,
    dilutions: [Dilution] = [], gst: GSTReport? = nil
  ) {
    (self.eph, self.epx, self.epy, self.status) = (eph, epx, epy, status)
    (self.driver, self.dilutions, self.gst) = (driver, dilutions, gst)
  }

  /// The newest HDOP.
  var hdop: Double? { dilutions.lazy.compactMap { HorizontalAccuracy.possible($0.hdop) }.first }

  /// `epx` and `epy` together.
  var axes: Double? {
    guard let epx = HorizontalAccuracy.possible(epx), let epy = HorizontalAccuracy.possible(epy) else { return nil }
    return (epx * epx + epy * epy).squareRoot()
  }

  /// Whether `epx` and `epy` are the receiver's own: sentences of NMEA alone bring them (GBS), and they are not what gpsd makes of the
  /// dilutions. Before the first dilution nobody can tell.
  var axesAreOwn: Bool {
    EstimateScale(driver: driver) == nil && hdop != nil && factorBehindAxes == nil
  }

  /// What gpsd multiplied the dilutions by to guess `epx` and `epy`; `nil` when they are no such guess.
  var factorBehindAxes: Double? {
    guard let epx, let epy else { return nil }
    return HorizontalAccuracy.axisPerDOP.first { factor in
      dilutions.contains { dilution in
        guard let xdop = dilution.xdop, let ydop = dilution.ydop else { return false }
        return Self.isProduct(epx, of: xdop, factor) && Self.isProduct(epy, of: ydop, factor)
      }
    }
  }

  /// The HDOP that `eph` was guessed from; `nil` when it is no such guess.
  var dilutionBehindEPH: Double? {
    guard let eph else { return nil }
    let isOwn = EstimateScale(driver: driver) != nil
    for dilution in dilutions.compactMap(\.hdop) {
      for factor in HorizontalAccuracy.ephPerHDOP where Self.isProduct(eph, of: dilution, factor, exactly: isOwn) {
        return eph / factor
      }
    }
    return dilutionToCome(eph)
  }

  /// gpsd's plain NMEA driver makes `eph` of the HDOP in GGA, and shows the one in GSA with the next SKY. When it has just changed, `eph` is
  /// 19.0 times a number of two decimals near the last one, or with DGPS 4.75 times.
  private func dilutionToCome(_ eph: Double) -> Double? {
    guard driver == "NMEA0183", let hdop else { return nil }
    let candidate = eph / (status == 2 ? 4.75 : 19)
    let isNear = (0.75...1.34).contains(candidate / hdop)
    let isOfTwoDecimals = abs(candidate - (candidate * 100).rounded() / 100) <= 0.0015 / (status == 2 ? 4.75 : 19)
    return isNear && isOfTwoDecimals ? candidate : nil
  }

  /// Whether `value` is `factor` times `dilution`: gpsd prints the product with three decimals, and dilutions rounded to two.
  /// - Parameter exactly: For receivers whose dilutions have two decimals, and that have estimates of their own to be mistaken.
  private static func isProduct(
    _ value: Double, of dilution: Double, _ factor: Double, exactly: Bool = false
  ) -> Bool {
    dilution > 0 && abs(value - factor * dilution) <= (exactly ? 0 : 0.005 * factor) + 0.0015
  }
}
