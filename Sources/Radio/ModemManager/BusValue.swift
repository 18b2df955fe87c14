/// A value of D-Bus. Variants are opened: their content stands for them.
indirect enum BusValue: Hashable, Sendable {
  case bool(Bool)
  /// All integers; an unsigned one of 64 bits that does not fit is the greatest number.
  case integer(Int64)
  case double(Double)
  /// Texts and paths of objects.
  case string(String)
  /// Arrays and structures.
  case list([BusValue])
  /// Dictionaries, their keys as texts.
  case dictionary([String: BusValue])
  /// A type that is not used here.
  case other

  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int64? { if case .integer(let number) = self { number } else { nil } }
  var isTrue: Bool { self == .bool(true) }
  var list: [BusValue] { if case .list(let list) = self { list } else { [] } }
  var dictionary: [String: BusValue] { if case .dictionary(let members) = self { members } else { [:] } }
  var real: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  /// A text that is not empty and not ModemManager's sign for "unknown".
  var name: String? { text.flatMap { $0.isEmpty || $0 == "--" ? nil : String($0.prefix(64)) } }
  /// A number in hexadecimal digits, as ModemManager writes codes of cells.
  var hexadecimal: Int64? { text.flatMap { Int64($0, radix: 16) }.flatMap { $0 >= 0 ? $0 : nil } }
}
