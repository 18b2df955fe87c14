import OrderedJSON

extension JSON {
  /// The value for formats that have no types: a string without quotes, all others as in JSON.
  var plainText: String { if case .string(let text) = self { text } else { text } }
}
