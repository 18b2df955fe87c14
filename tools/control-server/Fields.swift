import Foundation

/// Typed access to the members of a request's object. A member of the wrong type is a 400; null and absent are the same.
struct Fields {
  private let object: JSONValue
  private let path: String

  /// - Parameter path: The place of this object in the request, for messages: `fences[2].location`.
  init(_ value: JSONValue, at path: String = "") throws {
    guard case .object = value else { throw Refusal.format("\(path.isEmpty ? "the body" : path) is not an object") }
    object = value
    self.path = path
  }

  /// The fields of a request body.
  init(body: [UInt8]) throws {
    do {
      try self.init(JSONParser.parse(body))
    } catch let failure as JSONParser.Failure {
      throw Refusal.format("\(failure.message) at byte \(failure.offset)")
    }
  }

  var json: JSONValue { object }

  private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  private func present(_ key: String) -> JSONValue? {
    guard let value = object[key], value != .null else { return nil }
    return value
  }

  func string(_ key: String) throws -> String? {
    guard let value = present(key) else { return nil }
    guard case .string(let text) = value else { throw Refusal.format("\(name(key)) is not a string") }
    return text
  }

  /// A string for a column of `limit` characters. A longer one violates a constraint, which the real server swallows.
  func string(_ key: String, limit: Int) throws -> String? {
    let text = try string(key)
    guard let text else { return nil }
    // PostgreSQL counts code points, and has no NUL in texts.
    if text.unicodeScalars.count > limit {
      throw Refusal.swallowed("\(name(key)) is longer than \(limit) characters")
    }
    if text.unicodeScalars.contains("\0") { throw Refusal.swallowed("\(name(key)) has a NUL") }
    return text
  }

  func bool(_ key: String) throws -> Bool? {
    guard let value = present(key) else { return nil }
    guard case .bool(let flag) = value else { throw Refusal.format("\(name(key)) is not a boolean") }
    return flag
  }

  func number(_ key: String) throws -> Double? {
    guard let value = present(key) else { return nil }
    guard case .number(let spelling) = value, let number = Double(spelling), number.isFinite else {
      throw Refusal.format("\(name(key)) is not a number")
    }
    return number
  }

  /// An integer, spelled as one: `15.0` is refused.
  func integer<Integer: FixedWidthInteger>(_ key: String, as type: Integer.Type) throws -> Integer? {
    guard let value = present(key) else { return nil }
    guard case .number(let spelling) = value else { throw Refusal.format("\(name(key)) is not a number") }
    guard let number = Integer(spelling) else {
      throw Refusal.format("\(name(key)): \(spelling) is not an integer of \(Integer.bitWidth) bits")
    }
    return number
  }

  /// An integer, as a number or as text: clients of speed tests mix them.
  func integerOrText(_ key: String) throws -> Int64? {
    guard let value = present(key) else { return nil }
    guard case .string(let text) = value else { return try integer(key, as: Int64.self) }
    guard let number = Int64(text) else { throw Refusal.format("\(name(key)): \(text) is not an integer") }
    return number
  }

  /// Text, or a number as text.
  func textOrInteger(_ key: String) throws -> String? {
    if case .number = present(key) { return try integer(key, as: Int64.self).map(String.init) }
    return try string(key)
  }

  /// A UUID in lower case, with or without the letter that marks its kind: `U` a client, `L` a loop, `O` an open test.
  func uuid(_ key: String, afterLetter letter: Character) throws -> String? {
    try string(key).flatMap { text in
      UUID(uuidString: text.first == letter ? String(text.dropFirst()) : text)?.uuidString.lowercased()
    }
  }

  /// A UUID in lower case. Malformed text counts as absent: the real server's deserialiser makes it null.
  func uuid(_ key: String) throws -> String? {
    try string(key).flatMap { UUID(uuidString: $0)?.uuidString.lowercased() }
  }

  func fields(_ key: String) throws -> Fields? {
    try present(key).map { try Fields($0, at: name(key)) }
  }

  func array(_ key: String) throws -> [Fields]? {
    guard let value = present(key) else { return nil }
    guard case .array(let elements) = value else { throw Refusal.format("\(name(key)) is not an array") }
    return try elements.enumerated().map { try Fields($0.element, at: "\(name(key))[\($0.offset)]") }
  }

  /// `value`; throws the refusal of the real server when it is missing.
  func required<Value>(_ key: String, _ value: Value?) throws -> Value {
    guard let value else { throw Refusal.swallowed("\(name(key)) is missing") }
    return value
  }
}
