import Yams

/// One entry of a list: a group of keys. Its mistakes repeat no value when `isPrivate`.
struct ListEntry {
  /// All its keys are known.
  private let mapping: Node.Mapping
  private let isPrivate: Bool

  /// - Parameters:
  ///   - keys: All known keys.
  ///   - isPrivate: Whether values can be private places.
  /// - Throws: ``ListMistake``
  init(_ node: Node, keys: [String], isPrivate: Bool) throws(ListMistake) {
    guard let mapping = node.mapping else {
      throw ListMistake("expected a group of keys: \(keys.joined(separator: ", "))")
    }
    for key in mapping.keys {
      guard let name = key.string, keys.contains(name) else {
        let nearest = ConfigurationName.nearest(to: key.string ?? "", among: keys)
        throw ListMistake("unknown key \(isPrivate ? "" : (key.string ?? "?") + " ")(did you mean \(nearest)?)")
      }
    }
    (self.mapping, self.isPrivate) = (mapping, isPrivate)
  }

  /// Reads the value of one key.
  /// - Parameters:
  ///   - expected: The accepted values, as words after "expected".
  ///   - fallback: The value of a missing key; `nil` makes the key mandatory.
  ///   - parse: Returns `nil` for a text that is not accepted.
  /// - Throws: ``ListMistake``
  func value<Value>(
    _ key: String, _ expected: String, or fallback: Value? = nil, _ parse: (String) -> Value?
  ) throws(ListMistake) -> Value {
    guard let node = mapping[key] else {
      if let fallback { return fallback }
      throw ListMistake("\(key) is missing: expected \(expected)")
    }
    if let value = node.string.flatMap(parse) { return value }
    let shown = isPrivate ? "\(key)" : "\(key) is \"\(node.string ?? "a list or a group")\""
    throw ListMistake("\(shown): expected \(expected)")
  }

  /// Reads a list entry by entry.
  /// - Throws: ``ListMistake``, with the number of the entry, from 1.
  static func all<Value>(
    _ node: Node, _ entry: (Node) throws(ListMistake) -> Value
  ) throws(ListMistake) -> [Value] {
    // Without a reason: the setting's own words about the list are better.
    guard let nodes = node.sequence else { throw ListMistake("") }
    var values: [Value] = []
    for (index, node) in nodes.enumerated() {
      do { values.append(try entry(node)) } catch { throw ListMistake("entry \(index + 1): \(error.reason)") }
    }
    return values
  }
}
