import Coverage

/// A configuration that cannot be used. Its description is one line: the mistake, its place, and the remedy.
public enum ConfigurationError: Error, Hashable, CustomStringConvertible {
  /// The file cannot be opened or read, is longer than 1 MiB, or is not UTF-8 without a byte order mark.
  case unreadable(file: String, reason: String)
  /// The file is not YAML, or has something else than keys at its top. `reason` repeats no value of it.
  case malformed(file: String, reason: String)
  /// A key of the file, or a variable with the program's prefix, that no setting has.
  /// - Parameter nearest: The known name with the least edit distance.
  case unknownKey(String, place: String, nearest: String)
  /// A value that its setting does not accept.
  /// - Parameters:
  ///   - key: The key of the file, or the name of the variable.
  ///   - place: `environment`, or `configuration` and the path of the file.
  ///   - expected: The accepted values, as words after "expected".
  case badValue(key: String, value: String, place: String, expected: String)
  /// A mistake in a list. It has no field for the value, because a list can hold private places; `reason` names the entry and
  /// the key.
  case badList(key: String, place: String, reason: String)
  /// The first of two related waits is longer than the last.
  case contradiction(key: String, value: String, lastKey: String, last: String)
  /// `pings.ip-version` forces one IP version; the control server's literal address is of the other one.
  case otherFamily(IPVersion, host: String)
  /// Keys that do not go together. The text names them.
  case conflict(String)
  /// A setting without a default is not set, and the command needs it.
  /// - Parameters:
  ///   - purpose: The reason why the command needs it.
  ///   - file: The configuration file; `nil` when none was given.
  case missing(key: String, purpose: String, file: String?)

  /// The mistake, its place and the remedy, in one line.
  public var description: String {
    // A key or a value of the file can contain line breaks.
    words.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  private var words: String {
    switch self {
    case .unreadable(let file, let reason): "cannot read configuration \(file): \(reason)"
    case .malformed(let file, let reason): "configuration \(file) is not YAML: \(reason)"
    case .unknownKey(let key, let place, let nearest): "\(place): unknown key \(key); did you mean \(nearest)?"
    case .badValue(let key, let value, let place, let expected):
      "\(place): \(key) is \"\(value)\": expected \(expected)"
    case .contradiction(let key, let value, let lastKey, let last):
      "\(key) (\(value)) is longer than \(lastKey) (\(last)): set \(lastKey) to \(value) or more"
    case .otherFamily(let version, let host):
      "pings.ip-version is \(version.rawValue), but control-server.url names the \(version.other) address \(host), "
        + "whose ping tokens are good for \(version.other) only: use a name or an \(version) address there"
    case .conflict(let reason): reason
    case .badList(let key, let place, let reason): "\(place): \(key): \(reason)"
    case .missing(let key, let purpose, nil): "\(key) is not set: \(purpose); no --config FILE is given"
    case .missing(let key, let purpose, let file?): "\(key) is not set: \(purpose); set it in \(file)"
    }
  }
}

struct ListMistake: Error {
  /// Empty when the value is not a list.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
