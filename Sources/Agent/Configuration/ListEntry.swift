import Yams

/// A group of keys that is an entry of a list, and what is wrong with it: in words that repeat no value where `isPrivate`.
struct ListEntry {
  private let mapping: Node.Mapping
  private let isPrivate: Bool

  /// - Parameter keys: All that there are.
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

  /// - Parameters:
  ///   - fallback: What counts where the key is missing; `nil`: it has to be there.
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
    guard let nodes = node.sequence else { throw ListMistake("") }
    var values: [Value] = []
    for (index, node) in nodes.enumerated() {
      do { values.append(try entry(node)) } catch { throw ListMistake("entry \(index + 1): \(error.reason)") }
    }
    return values
  }
}

/// Why a list of the configuration cannot be used.
struct ListMistake: Error {
  /// Empty: it is no list at all.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
