import OrderedJSON

extension JSON {
  /// The value as text for formats without types (CSV, GPX, KML): a string without quotes, everything else as in JSON.
  var plainText: String { if case .string(let text) = self { text } else { text } }
}
