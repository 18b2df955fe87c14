import OrderedJSON

extension JSONWriter {
  /// Passes the text to `write` when it is long enough for a call, and at the end.
  mutating func flush(to write: ([UInt8]) throws -> Void, isLast: Bool = false) throws {
    guard bytes.count >= 1 << 16 || isLast else { return }
    try write(bytes)
    removeAll()
  }
}
