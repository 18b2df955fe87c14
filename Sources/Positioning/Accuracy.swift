/// Which of gpsd's figures an accuracy was made from, best first.
public enum AccuracySource: String, Hashable, Sendable, CaseIterable {
  /// TPV `eph`: the receiver's own estimate, else gpsd's guess from the dilution of precision.
  case eph
  /// TPV `epx` and `epy` together.
  case epxEpy = "epx-epy"
  /// SKY `hdop` times ``HorizontalAccuracy/metresPerHDOP``.
  case hdop
  /// The receiver gave nothing to go by; the accuracy is unknown.
  case none
}

/// A horizontal accuracy at the confidence of phones (68 %), from what gpsd gives (spec/gpsd.md 4, error estimates).
public struct HorizontalAccuracy: Hashable, Sendable {
  /// Radius in metres that holds 68 % of the positions; `nil` when unknown.
  public let metres: Double?
  public let source: AccuracySource

  /// From 95 % to 68 % of a Rayleigh-distributed radius: sqrt(ln 0.05 / ln 0.32) = 1.62.
  ///
  /// gpsd's estimates are nominally 95 %; a few receivers' own figures are nearer 68 %, which makes those too good by this factor.
  public static let from95To68 = 1.62

  /// Metres for one unit of HDOP; that product is a 68 % guess as it stands.
  public static let metresPerHDOP = 5.0

  /// Zero and negative estimates count as absent: no receiver is that good.
  public init(eph: Double?, epx: Double?, epy: Double?, hdop: Double?) {
    if let eph = Self.possible(eph) {
      (metres, source) = (eph / Self.from95To68, .eph)
    } else if let epx = Self.possible(epx), let epy = Self.possible(epy) {
      (metres, source) = ((epx * epx + epy * epy).squareRoot() / Self.from95To68, .epxEpy)
    } else if let hdop = Self.possible(hdop) {
      (metres, source) = (hdop * Self.metresPerHDOP, .hdop)
    } else {
      (metres, source) = (nil, .none)
    }
  }

  private static func possible(_ estimate: Double?) -> Double? {
    guard let estimate, estimate.isFinite, estimate > 0 else { return nil }
    return estimate
  }
}
