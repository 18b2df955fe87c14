import Glibc

/// A message from D-Bus.
package enum BusMessage<Use: Hashable & Sendable>: Hashable, Sendable {
  /// The answer to a call.
  case answer(Use, [BusValue])
  /// The error that answers a call: its name and text.
  case failure(Use, name: String, text: String)
  case signal(path: String, interface: String, member: String, [BusValue])
}

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

/// A call of a method over D-Bus, and the purpose of its answer.
package struct BusCall<Use: Hashable & Sendable>: Hashable, Sendable {
  /// The purposes of a conversation's calls.
  package typealias Purpose = Use

  package enum Argument: Hashable, Sendable {
    case bool(Bool)
    case unsigned(UInt32)
    case string(String)
  }

  package let purpose: Purpose
  package let destination: String
  package let path: String
  package let interface: String
  package let member: String
  package var arguments: [Argument] = []
}

/// The system bus cannot be used.
package struct BusError: Error, CustomStringConvertible {
  /// A negative errno, as sd-bus returns it.
  package let code: CInt

  package init(code: CInt) { self.code = code }

  package var description: String { String(cString: strerror(code == .min ? .max : abs(code))) }

  /// - Returns: The status of a call of sd-bus, which is not negative.
  /// - Throws: ``BusError`` for a negative one.
  @discardableResult
  package static func check(_ status: CInt) throws(BusError) -> CInt {
    guard status >= 0 else { throw BusError(code: status) }
    return status
  }
}

/// A file descriptor that came over D-Bus, closed with its last owner.
package final class BusDescriptor: Hashable, Sendable {
  private let descriptor: CInt

  /// Duplicates a descriptor that belongs to a message.
  /// - Returns: `nil` when the process may open no more descriptors.
  package init?(duplicating original: CInt) {
    descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
    if descriptor < 0 { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  package static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
