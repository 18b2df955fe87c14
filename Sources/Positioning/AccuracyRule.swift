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
