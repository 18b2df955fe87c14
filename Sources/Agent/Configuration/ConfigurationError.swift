/// A configuration that cannot be used: one line that says what, where and what to do.
public enum ConfigurationError: Error, Hashable, CustomStringConvertible {
  case unreadable(file: String, reason: String)
  case malformed(file: String, reason: String)
  case unknownKey(String, place: String, nearest: String)
  case badValue(key: String, value: String, place: String, expected: String)
  /// The value is in no message: a list can hold places that are to be known to nobody.
  case badList(key: String, place: String, reason: String)
  /// Of two waits that belong together the first is longer than the last.
  case contradiction(key: String, value: String, lastKey: String, last: String)
  /// Pings have to go by one version of the internet protocol, and the control server can be reached by the other one only.
  case otherFamily(ipVersion: Int, host: String)
  /// - Parameter file: `nil`: none was named.
  case missing(key: String, purpose: String, file: String?)

  public var description: String {
    switch self {
    case .unreadable(let file, let reason): "cannot read configuration \(file): \(reason)"
    case .malformed(let file, let reason): "configuration \(file) is not YAML: \(reason)"
    case .unknownKey(let key, let place, let nearest): "\(place): unknown key \(key); did you mean \(nearest)?"
    case .badValue(let key, let value, let place, let expected):
      "\(place): \(key) is \"\(value)\": expected \(expected)"
    case .contradiction(let key, let value, let lastKey, let last):
      "\(key) (\(value)) is longer than \(lastKey) (\(last)): set \(lastKey) to \(value) or more"
    case .otherFamily(let ipVersion, let host):
      "pings.ip-version is \(ipVersion), but control-server.url names the IPv\(ipVersion == 4 ? 6 : 4) address \(host), "
        + "whose ping tokens are good for IPv\(ipVersion == 4 ? 6 : 4) only: use a name or an IPv\(ipVersion) address there"
    case .badList(let key, let place, let reason): "\(place): \(key): \(reason)"
    case .missing(let key, let purpose, nil): "\(key) is not set: \(purpose); no --config FILE is given"
    case .missing(let key, let purpose, let file?): "\(key) is not set: \(purpose); set it in \(file)"
    }
  }
}
