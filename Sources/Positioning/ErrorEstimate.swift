extension Double? {
  /// The value as an estimate of an error; `nil` for zero, negative and infinite values and for NaN, which no receiver measures.
  var asErrorEstimate: Double? {
    guard let self, self.isFinite, self > 0 else { return nil }
    return self
  }
}

/// How gpsd's driver scales a receiver's own horizontal estimate (docs/accuracy.md).
enum EstimateScale {
  /// Not scaled: the receiver's standard deviation.
  case sigma
  /// Scaled to a radius of 95 %.
  case radius95
  /// Scaled by 1.96 to 95 % of one axis.
  case axis95

  /// `nil` for drivers without an estimate of their own, and for unknown drivers.
  init?(driver: String?) {
    guard let name = driver?.lowercased() else { return nil }
    let scales: [(String, EstimateScale)] = [
      ("u-blox", .sigma), ("greis", .sigma), ("sirf", .sigma), ("allystar", .sigma), ("garmin", .radius95),
      ("zodiac", .radius95), ("navcom", .axis95),
    ]
    guard let match = scales.first(where: { name.hasPrefix($0.0) }) else { return nil }
    self = match.1
  }
}

/// The dilutions of precision of a SKY report, without a unit; `nil` where gpsd gives none.
public struct Dilution: Hashable, Sendable {
  /// Of the horizontal position.
  public var hdop: Double?
  /// Of the longitude.
  public var xdop: Double?
  /// Of the latitude.
  public var ydop: Double?
}

extension Dilution {
  init(_ object: JSONObject) {
    self.init(hdop: object.number("hdop"), xdop: object.number("xdop"), ydop: object.number("ydop"))
  }
}
