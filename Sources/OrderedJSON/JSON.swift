/// A JSON value for writing. Members stay in the given order, and numbers are exact decimals.
///
/// Foundation's encoder writes keys in arbitrary or alphabetical order, and binary fractions (`31.669999999999998`). Drive logs, exports
/// and submissions are compared byte for byte and read by people, so they are written through this type. For reading, use Foundation.
public enum JSON: Hashable, Sendable {
  case string(String)
  case integer(Int64)
  /// The decimal number `units` / 10^`places`, written without trailing zeros, but with at least one digit behind the point.
  case decimal(units: Int64, places: Int)
  /// A binary number, written in the shortest form that reads back as the same number; `null` for one that is not finite.
  case number(Double)
  case bool(Bool)
  case null
  case array([JSON])
  case object([Member])

  /// A member of an object.
  public struct Member: Hashable, Sendable {
    /// The name; escaped when it is written.
    public let key: String
    /// The value.
    public let value: JSON

    /// A member `key` with `value`.
    public init(_ key: String, _ value: JSON) {
      self.key = key
      self.value = value
    }
  }

  /// An object of those `members` that have a value.
  public static func object(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(Self.members(members))
  }

  /// Those `members` that have a value, in order.
  public static func members(_ members: KeyValuePairs<String, JSON?>) -> [Member] {
    members.compactMap { key, value in value.map { Member(key, $0) } }
  }

  /// `value` rounded half away from zero to `places` decimals; `nil` for NaN, infinity and values beyond 64 bits of units.
  public static func rounded(_ value: Double, places: Int) -> JSON? {
    let scaled = (value * powerOfTen(places)).rounded()
    guard let units = Int64(exactly: scaled) else { return nil }
    return .decimal(units: units, places: places)
  }

  private static func powerOfTen(_ places: Int) -> Double {
    (0..<places).reduce(1.0) { power, _ in power * 10 }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByArrayLiteral {
  /// An array.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}
