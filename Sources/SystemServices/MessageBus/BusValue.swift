/// A value of D-Bus. Variants are opened: their content stands for them.
package indirect enum BusValue: Hashable, Sendable {
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
  /// A file descriptor.
  case descriptor(BusDescriptor)
  /// A type that is not used here.
  case other

  package var text: String? { if case .string(let text) = self { text } else { nil } }
  package var number: Int64? { if case .integer(let number) = self { number } else { nil } }
  package var isTrue: Bool { self == .bool(true) }
  package var list: [BusValue] { if case .list(let list) = self { list } else { [] } }
  package var dictionary: [String: BusValue] { if case .dictionary(let members) = self { members } else { [:] } }
  package var real: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  /// A text that is not empty and not ModemManager's sign for "unknown".
  package var name: String? { text.flatMap { $0.isEmpty || $0 == "--" ? nil : String($0.prefix(64)) } }
  /// A number in hexadecimal digits, as ModemManager writes codes of cells.
  package var hexadecimal: Int64? { text.flatMap { Int64($0, radix: 16) }.flatMap { $0 >= 0 ? $0 : nil } }
}
