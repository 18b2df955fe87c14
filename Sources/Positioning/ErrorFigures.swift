/// gpsd's figures of a position's horizontal error, in metres, unscaled.
struct ErrorFigures: Hashable, Sendable {
  /// gpsd's factors from HDOP to `eph`, without and with DGPS.
  private static let ephPerHDOP = [19.0, 4.75]
  /// gpsd's factors from XDOP and YDOP to `epx` and `epy`, without and with DGPS.
  private static let axisPerDOP = [15.0, 3.75]

  // Figures of the TPV.

  var eph: Double?
  var epx: Double?
  var epy: Double?
  var status: Int?
  /// The receiver's driver, as gpsd names it in DEVICE.
  var driver: String?
  /// The receiver's recent dilutions, newest first. gpsd computes a TPV with those of its epoch; the SKY with them can come before or after
  /// the TPV.
  var dilutions: [Dilution] = []
  /// The receiver's standard deviations for this epoch.
  var gst: GSTReport?

  /// The newest HDOP.
  var hdop: Double? { dilutions.lazy.compactMap { $0.hdop.asErrorEstimate }.first }

  /// The root of the sum of the squares of `epx` and `epy`.
  var axes: Double? {
    guard let epx = epx.asErrorEstimate, let epy = epy.asErrorEstimate else { return nil }
    return (epx * epx + epy * epy).squareRoot()
  }

  /// Whether `epx` and `epy` are the receiver's own: they come from NMEA's GBS sentence, and not from the dilutions. `false` before the first
  /// dilution, when this is unknown.
  var axesAreOwn: Bool {
    EstimateScale(driver: driver) == nil && hdop != nil && factorBehindAxes == nil
  }

  /// The factor with which gpsd computed `epx` and `epy` from the dilutions; `nil` when it did not.
  var factorBehindAxes: Double? {
    guard let epx, let epy else { return nil }
    return Self.axisPerDOP.first { factor in
      dilutions.contains { dilution in
        guard let xdop = dilution.xdop, let ydop = dilution.ydop else { return false }
        return Self.isProduct(epx, of: xdop, factor) && Self.isProduct(epy, of: ydop, factor)
      }
    }
  }

  /// The HDOP from which gpsd computed `eph`; `nil` when it did not.
  var dilutionBehindEPH: Double? {
    guard let eph else { return nil }
    let isOwn = EstimateScale(driver: driver) != nil
    for dilution in dilutions.compactMap(\.hdop) {
      for factor in Self.ephPerHDOP where Self.isProduct(eph, of: dilution, factor, exactly: isOwn) {
        return eph / factor
      }
    }
    return dilutionToCome(eph)
  }

  /// The HDOP that gpsd has not reported yet. Its plain NMEA driver computes `eph` from the HDOP in GGA, and reports the one in GSA with the
  /// next SKY. When HDOP has just changed, `eph` is 19.0 times (with DGPS 4.75 times) a number of two decimals near the last HDOP.
  private func dilutionToCome(_ eph: Double) -> Double? {
    guard driver == "NMEA0183", let hdop else { return nil }
    let candidate = eph / (status == 2 ? 4.75 : 19)
    let isNear = (0.75...1.34).contains(candidate / hdop)
    let isOfTwoDecimals = abs(candidate - (candidate * 100).rounded() / 100) <= 0.0015 / (status == 2 ? 4.75 : 19)
    return isNear && isOfTwoDecimals ? candidate : nil
  }

  /// Whether `value` is `factor` times `dilution`: gpsd prints the product with three decimals, and dilutions rounded to two.
  /// - Parameter exactly: For receivers with dilutions of two decimals and own estimates, which can be near a product by chance.
  private static func isProduct(
    _ value: Double, of dilution: Double, _ factor: Double, exactly: Bool = false
  ) -> Bool {
    dilution > 0 && abs(value - factor * dilution) <= (exactly ? 0 : 0.005 * factor) + 0.0015
  }
}
