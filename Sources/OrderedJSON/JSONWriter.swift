/// Writes JSON text value by value, straight into bytes, with commas where they belong.
///
/// For text that is written a hundred thousand times: a ``JSON`` value of an object makes arrays of its members first. Scalars are ``JSON``
/// values here too, so that each number and each string is written in the same way everywhere.
public struct JSONWriter {
  /// The text so far.
  public private(set) var bytes: [UInt8] = []

  public init() {}

  /// Forgets the text so far, once it is elsewhere. The next value begins a new text, without a comma before it.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Writes `text` as it is.
  public mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  public mutating func beginObject() { begin("{") }
  public mutating func endObject() { bytes.append(UInt8(ascii: "}")) }
  public mutating func beginArray() { begin("[") }
  public mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

  /// Begins a member of an object; its value comes next.
  /// - Parameter key: Without marks that JSON escapes.
  public mutating func key(_ key: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// A member of an object; nothing without a value.
  public mutating func member(_ key: StaticString, _ value: JSON?) {
    guard let value else { return }
    self.key(key)
    value.write(to: &bytes)
  }

  /// A value: an element of an array, or that of the key before it.
  public mutating func value(_ value: JSON) {
    separate()
    value.write(to: &bytes)
  }

  private mutating func begin(_ mark: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: mark))
  }

  /// A comma, behind a value.
  private mutating func separate() {
    switch bytes.last {
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "\n"): break
    default: bytes.append(UInt8(ascii: ","))
    }
  }
}
