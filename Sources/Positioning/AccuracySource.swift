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
