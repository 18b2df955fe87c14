/// A configuration that cannot be used: one line that says what, where and what to do.
public enum ConfigurationError: Error, Hashable, CustomStringConvertible {
  case unreadable(file: String, reason: String)
  case malformed(file: String, reason: String)
  case unknownKey(String, place: String, nearest: String)
  case badValue(key: String, value: String, place: String, expected: String)
  case missing(key: String, purpose: String)

  public var description: String {
    switch self {
    case .unreadable(let file, let reason): "cannot read configuration \(file): \(reason)"
    case .malformed(let file, let reason): "configuration \(file) is not YAML: \(reason)"
    case .unknownKey(let key, let place, let nearest): "\(place): unknown key \(key); did you mean \(nearest)?"
    case .badValue(let key, let value, let place, let expected):
      "\(place): \(key) is \"\(value)\": expected \(expected)"
    case .missing(let key, let purpose): "\(key) is not set: \(purpose)"
    }
  }
}
