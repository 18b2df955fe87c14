/// A JSON value to be written: members keep the order in which they are given, and numbers are exact decimals.
///
/// Foundation's encoder orders keys by chance or by alphabet and writes binary fractions (`31.669999999999998`). Drive logs,
/// exports and submissions are compared byte for byte and read by people, so they are written through this instead.
/// Reading is Foundation's.
public enum JSON: Hashable, Sendable {
  case string(String)
  case integer(Int64)
  /// A decimal number: `units` / 10^`places`, written without trailing zeros but for one behind the point.
  case decimal(units: Int64, places: Int)
  /// A binary number, written in the shortest way that reads back as the same number. Not finite: `null`.
  case number(Double)
  case bool(Bool)
  case null
  case array([JSON])
  case object([Member])

  public struct Member: Hashable, Sendable {
    public let key: String
    public let value: JSON

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

  /// `value` rounded half away from zero to `places` decimals; `nil` when it is not a number that fits.
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
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}
