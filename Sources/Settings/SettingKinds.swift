import Coverage
import Yams

/// The kinds of settings: how a text becomes a value, and how a reader learns the accepted ones.
extension Setting {
  /// The place of a setting's value.
  typealias Field<Value> = WritableKeyPath<ProbeConfiguration, Value>

  struct Words {
    let key: String
    let type: String
    var range = ""
    /// Completes "expected ...".
    let expects: String
    let reload: Reload
    let effect: String
  }

  /// A setting that always has a value: `null` is a mistake.
  static func required<Value>(
    _ words: Words, _ path: Field<Value>, shown: (Value) -> String = { "\($0)" }, _ parse: @escaping (String) -> Value?
  ) -> Setting {
    Setting(words, path, shown: shown) { configuration, text in
      guard let value = text.flatMap(parse) else { return false }
      configuration[keyPath: path] = value
      return true
    }
  }

  /// A setting that `null` unsets. Its type and its expectation get the words "or null".
  static func optional<Value>(
    _ words: Words, _ path: Field<Value?>, shown: ((Value) -> String)? = nil, _ parse: @escaping (String) -> Value?
  ) -> Setting {
    let orNull = Words(
      key: words.key, type: words.type + " or null", range: words.range, expects: words.expects + ", or null",
      reload: words.reload, effect: words.effect)
    return Setting(orNull, path, shown: { $0.map { shown?($0) ?? plain($0) } ?? "null" }) { configuration, text in
      let value = text.flatMap(parse)
      guard text == nil || value != nil else { return false }
      configuration[keyPath: path] = value
      return true
    }
  }

  /// A list of entries; `null` is the empty list. Its text is YAML, so that a variable of the environment can hold it.
  static func list<Entry>(
    _ words: Words, _ path: Field<[Entry]>, _ parse: @escaping (Node) throws(ListMistake) -> [Entry]
  ) -> Setting {
    func entries(_ text: String) throws -> [Entry] {
      guard let node = try ConfigurationText.compose(text) else { throw ListMistake("") }
      return try parse(node)
    }
    var setting = Setting(words, path, shown: { _ in "[]" }) { configuration, text in
      guard let entries = try? text.map(entries) ?? [] else { return false }
      configuration[keyPath: path] = entries
      return true
    }
    setting.takesList = true
    // The text is read once more: `apply` returns only whether it was accepted.
    setting.explanation = { text in
      do {
        _ = try entries(text)
        return nil
      } catch let mistake as ListMistake {
        return mistake.reason.isEmpty ? nil : mistake.reason
      } catch {
        return nil
      }
    }
    return setting
  }

  /// `true` or `false`, in lower case. YAML 1.1 has more words for booleans; they are mistakes here.
  static func boolean(_ key: String, _ path: Field<Bool>, _ reload: Reload, _ effect: String) -> Setting {
    let words = Words(key: key, type: "true or false", expects: "true or false", reload: reload, effect: effect)
    var setting = required(words, path) { ["true": true, "false": false][$0] }
    setting.explanation = { text in
      ["yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        ? "yes, no, on and off are no booleans" : nil
    }
    return setting
  }

  /// - Parameter seconds: The accepted durations, both ends included; the documentation prints the same range.
  static func duration(
    _ key: String, _ path: Field<Duration>, _ seconds: ClosedRange<Double>, _ reload: Reload, _ effect: String
  ) -> Setting {
    let range = "\(DurationText.text(seconds.lowerBound)) to \(DurationText.text(seconds.upperBound))"
    let words = Words(
      key: key, type: "duration", range: range,
      expects: "a duration such as 250ms, 10s, 5m, 4h or 7d, from \(range)", reload: reload, effect: effect)
    return required(words, path, shown: { DurationText.text($0.inSeconds) }) { text in
      DurationText.duration(text).flatMap { seconds.contains($0.inSeconds) ? $0 : nil }
    }
  }

  /// A whole number.
  /// - Parameter type: The word for it in the documentation and in mistakes, such as `port`.
  static func number(
    _ key: String, _ path: Field<Int>, _ range: ClosedRange<Int>, type: String = "number", _ reload: Reload,
    _ effect: String
  ) -> Setting {
    let accepted = "\(range.lowerBound) to \(range.upperBound)"
    let words = Words(
      key: key, type: type, range: accepted, expects: "a \(type), \(accepted)", reload: reload, effect: effect)
    return required(words, path) { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }
  }

  /// A quantity above 0, at most `greatest`.
  static func quantity(
    _ key: String, _ path: Field<Double>, _ unit: String, upTo greatest: Int, _ reload: Reload, _ effect: String
  ) -> Setting {
    let range = "above 0, at most \(greatest)"
    let words = Words(
      key: key, type: unit, range: range, expects: "\(unit), \(range)", reload: reload, effect: effect)
    return required(words, path, shown: plain) { text in
      positive(text).flatMap { $0 <= Double(greatest) ? $0 : nil }
    }
  }

  /// The greatest speed that a setting may have, in metres a second: three times that of sound.
  private static let greatestSpeed = 1000.0

  /// A speed above 0, or none.
  static func speed(_ key: String, _ path: Field<Double?>, _ reload: Reload, _ effect: String) -> Setting {
    let words = Words(
      key: key, type: "metres a second", range: "above 0, at most 1000",
      expects: "metres a second, above 0, at most 1000", reload: reload, effect: effect)
    return optional(words, path) { text in positive(text).flatMap { $0 <= greatestSpeed ? $0 : nil } }
  }

  /// The path of a file, or none.
  static func path(_ key: String, _ field: Field<String?>, _ reload: Reload, _ effect: String) -> Setting {
    optional(Words(key: key, type: "path", expects: "a path", reload: reload, effect: effect), field, path).withPath()
  }

  /// One of the words of an enumeration.
  static func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ key: String, _ path: Field<Value>, _ reload: Reload, _ effect: String
  ) -> Setting {
    let names = Value.allCases.map(\.rawValue)
    let words = Words(
      key: key, type: names.joined(separator: ", "),
      expects: "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")", reload: reload, effect: effect)
    return required(words, path, shown: \.rawValue, Value.init(rawValue:))
  }

  /// A shell expands a tilde; this program does not.
  func withPath() -> Setting {
    var setting = self
    setting.explanation = {
      $0.hasPrefix("~") ? "~ is not replaced by a home directory here, write the whole path" : nil
    }
    return setting
  }

  /// A word, or a word with a path behind it.
  static func source<Value>(
    _ key: String, _ path: Field<Value>, expects: String, _ reload: Reload, _ effect: String,
    shown: @escaping (Value) -> String, _ parse: @escaping (String) -> Value?
  ) -> Setting {
    let words = Words(key: key, type: "text", expects: expects, reload: reload, effect: effect)
    var setting = required(words, path, shown: shown) { withoutTilde($0, parse) }
    setting.explanation = { text in
      text.contains(":~") ? "~ is not replaced by a home directory here, write the whole path" : nil
    }
    return setting
  }

  /// - Returns: `nil` for a source whose path begins with a tilde.
  static func withoutTilde<Value>(_ text: String, _ parse: (String) -> Value?) -> Value? {
    text.contains(":~") ? nil : parse(text)
  }

  /// Takes the default from ``ProbeConfiguration``, so that the documentation cannot have another one.
  private init<Value>(
    _ words: Words, _ path: Field<Value>, shown: (Value) -> String,
    apply: @escaping (inout ProbeConfiguration, String?) -> Bool
  ) {
    (key, type, range, effect) = (words.key, words.type, words.range, words.effect)
    (expects, reload) = (words.expects, words.reload)
    defaultText = shown(Self.defaults[keyPath: path])
    self.apply = apply
    copy = { $1[keyPath: path] = $0[keyPath: path] }
  }

  private static let defaults = ProbeConfiguration()

  /// A whole number without its fraction.
  static func plain(_ value: some Any) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// - Returns: `nil` unless the text is a finite number above 0.
  private static func positive(_ text: String) -> Double? {
    Double(text).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
  }
}
