import OrderedJSON

/// The forms of figures: positions and lengths to the centimetre, delays to the microsecond; more digits have no meaning.
extension JSON {
  /// Degrees with seven decimals, which are a centimetre.
  static func degrees(_ value: Double) -> JSON { figure(value, 7) }

  /// `value` with at most this many decimals.
  static func figure(_ value: Double, _ places: Int) -> JSON { rounded(value, places: places) ?? .number(value) }

  static func count(_ value: Int) -> JSON { .integer(Int64(value)) }

  /// Milliseconds, to the nearest microsecond.
  static func delay(_ nanoseconds: Int64) -> JSON {
    let (half, rest) = (nanoseconds < 0 ? -500 : 500, nanoseconds % 1000)
    return .decimal(units: nanoseconds / 1000 + (rest + Int64(half)) / 1000, places: 3)
  }
}
