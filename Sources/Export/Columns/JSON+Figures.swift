import Coverage
import OrderedJSON

/// The forms of figures: positions and lengths to the centimetre, delays to the microsecond; more digits have no meaning.
extension JSON {
  /// Degrees with seven decimals: 1e-7 degrees are about a centimetre on the ground.
  static func degrees(_ value: Double) -> JSON { figure(value, 7) }

  /// `value` with at most this many decimals. A value too large for 64 bits of units stays a binary number, which JSON can
  /// write with an exponent.
  static func figure(_ value: Double, _ places: Int) -> JSON { rounded(value, places: places) ?? .number(value) }

  /// A course in degrees with one decimal. 359.95 and more is 0: it would become 360.0.
  static func course(_ degrees: Double) -> JSON { figure(degrees >= 359.95 ? 0 : degrees, 1) }

  static func count(_ value: Int) -> JSON { .integer(Int64(value)) }

  /// `value` in `unit` as text with one decimal, rounded half up; a negative value is 0.
  static func tenths(_ value: Int64, of unit: Int64) -> String {
    let tenths = max(0, value).saturatingAdding(unit / 20) / (unit / 10)
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Milliseconds, to the nearest microsecond.
  static func delay(_ nanoseconds: Int64) -> JSON {
    let (half, rest) = (nanoseconds < 0 ? -500 : 500, nanoseconds % 1000)
    return .decimal(units: nanoseconds / 1000 + (rest + Int64(half)) / 1000, places: 3)
  }
}

extension JSON {
  /// The value as text for formats without types (CSV, GPX, KML): a string without quotes, everything else as in JSON.
  var plainText: String { if case .string(let text) = self { text } else { text } }
}
