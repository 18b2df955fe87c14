/// How gpsd's figures became a 68 % radius (docs/accuracy.md). Each fix in the drive log names its rule.
public enum AccuracyRule: String, Hashable, Sendable, CaseIterable {
  /// The receiver's own standard deviations from a GST report: the root of the sum of their squares.
  case gst
  /// The receiver's own standard deviations, which gpsd passes on as `epx` and `epy` (NMEA GBS): the root of the sum of their squares.
  case gbs
  /// `eph` is gpsd's guess, 19.0 or 4.75 times HDOP: HDOP times ``HorizontalAccuracy/metresPerHDOP``.
  case ephFromHDOP = "eph-from-hdop"
  /// `eph` is the receiver's own standard deviation, by its driver: undivided.
  case ephSigma = "eph-sigma"
  /// `eph` is a radius that gpsd's driver scaled to 95 %: divided by 1.62.
  case ephRadius95 = "eph-95-radius"
  /// `eph` is a figure that gpsd's driver scaled by 1.96: divided by 1.96.
  case ephAxis95 = "eph-95-axis"
  /// Nothing says what `eph` stands for: undivided, the careful side.
  case ephUnknown = "eph-unknown"
  /// `epx` and `epy` are gpsd's guess, 15 or 3.75 times their dilutions: as HDOP.
  case axesFromHDOP = "epx-epy-from-hdop"
  /// Nothing says what `epx` and `epy` stand for: the root of the sum of their squares, the careful side.
  case axesUnknown = "epx-epy-unknown"
  /// SKY `hdop` times ``HorizontalAccuracy/metresPerHDOP``.
  case hdop
  /// The receiver gave nothing to go by; the accuracy is unknown.
  case none

  /// The figure that the accuracy was made from.
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

/// Which of gpsd's figures an accuracy was made from.
public enum AccuracySource: String, Hashable, Sendable, CaseIterable {
  /// A GST report.
  case gst
  /// TPV `eph`.
  case eph
  /// TPV `epx` and `epy` together.
  case epxEpy = "epx-epy"
  /// SKY `hdop`.
  case hdop
  /// Nothing.
  case none
}

/// What gpsd's drivers do with a receiver's own horizontal estimate (docs/accuracy.md).
enum EstimateScale {
  /// Passed on as the receiver's standard deviation.
  case sigma
  /// Scaled to a radius of 95 %.
  case radius95
  /// Scaled by 1.96 to 95 % of one axis.
  case axis95

  /// - Parameter driver: As gpsd names it in DEVICE; `nil` for drivers without an estimate of their own, and unknown ones.
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
