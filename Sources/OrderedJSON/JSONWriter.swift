/// Writes JSON text value by value into bytes, and adds the commas.
///
/// It is for text that is written a hundred thousand times, because a ``JSON`` object first allocates arrays of its members. Scalars are
/// ``JSON`` values, so that numbers and strings have the same form everywhere.
public struct JSONWriter {
  /// The text so far.
  public private(set) var bytes: [UInt8] = []

  /// A writer without text.
  public init() {}

  /// Removes the text so far. The next value starts a new text, without a comma before it.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Appends `text` unchanged.
  public mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Starts an object, as a value.
  public mutating func beginObject() { begin("{") }
  /// Ends the innermost object.
  public mutating func endObject() { bytes.append(UInt8(ascii: "}")) }
  /// Starts an array, as a value.
  public mutating func beginArray() { begin("[") }
  /// Ends the innermost array.
  public mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

  /// Starts a member of an object; its value must follow.
  /// - Parameter key: A name without characters that JSON escapes.
  public mutating func key(_ key: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes a member of an object; does nothing for `nil`.
  public mutating func member(_ key: StaticString, _ value: JSON?) {
    guard let value else { return }
    self.key(key)
    value.write(to: &bytes)
  }

  /// Writes a member whose key is JSON text already, with quotes and colon. Writes nothing for `nil`.
  public mutating func member(encodedKey key: [UInt8], _ value: JSON?) {
    guard let value else { return }
    separate()
    bytes.append(contentsOf: key)
    value.write(to: &bytes)
  }

  /// Writes an element of an array, or the value of the last key.
  public mutating func value(_ value: JSON) {
    separate()
    value.write(to: &bytes)
  }

  private mutating func begin(_ mark: Unicode.Scalar) {
    separate()
    bytes.append(UInt8(ascii: mark))
  }

  /// Writes a comma if a value precedes; a line feed, and the record separator of text sequences (RFC 7464), begin another text.
  private mutating func separate() {
    switch bytes.last {
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "\n"), 0x1E: break
    default: bytes.append(UInt8(ascii: ","))
    }
  }
}
