/// The members of a JSON object in one line, with values that are parsed on demand.
///
/// gpsd's lines are not always JSON: old and other servers write `nan` and `inf`, and pass-through devices write commas before brackets and
/// their own class names (docs/protocol.md, 4.5). So this only delimits the values at first; a value that cannot be
/// parsed is absent.
struct JSONObject {
  private var members: [String: ArraySlice<UInt8>] = [:]

  /// `nil` when `line` is not an object from its first brace to its last.
  init?(_ line: ArraySlice<UInt8>) {
    var reader = JSONReader(line)
    guard reader.skip("{") else { return nil }
    while !reader.skip("}") {
      guard let key = reader.string(), reader.skip(":"), let value = reader.skipValue() else { return nil }
      members[key] = value
      guard reader.skip(",") || reader.next == UInt8(ascii: "}") else { return nil }
    }
    guard reader.next == nil else { return nil }
  }

  /// A finite number; `nil` for other values.
  func number(_ key: String) -> Double? {
    guard let text = members[key], text.allSatisfy(Self.isOfNumber) else { return nil }
    return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// A number without a fraction; `nil` for other values.
  func integer(_ key: String) -> Int? {
    number(key).flatMap(Int.init(exactly:))
  }

  func bool(_ key: String) -> Bool? {
    switch members[key].map({ String(decoding: $0, as: UTF8.self) }) {
    case "true": true
    case "false": false
    default: nil
    }
  }

  func string(_ key: String) -> String? {
    guard let text = members[key] else { return nil }
    var reader = JSONReader(text)
    return reader.string()
  }

  /// The objects in an array; other elements are left out.
  func objects(_ key: String) -> [JSONObject] {
    guard let text = members[key] else { return [] }
    var reader = JSONReader(text)
    guard reader.skip("[") else { return [] }
    var objects: [JSONObject] = []
    while !reader.skip("]"), let element = reader.skipValue() {
      if let object = JSONObject(element) { objects.append(object) }
      _ = reader.skip(",")
    }
    return objects
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default:
      false
    }
  }
}
