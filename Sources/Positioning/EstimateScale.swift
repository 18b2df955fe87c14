/// How gpsd's driver scales a receiver's own horizontal estimate (docs/accuracy.md).
enum EstimateScale {
  /// Not scaled: the receiver's standard deviation.
  case sigma
  /// Scaled to a radius of 95 %.
  case radius95
  /// Scaled by 1.96 to 95 % of one axis.
  case axis95

  /// `nil` for drivers without an estimate of their own, and for unknown drivers.
  /// - Parameter driver: The name in gpsd's DEVICE report.
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
