import Foundation
import OrderedJSON

/// The parameters of one QoS test, by name. Servers send every value as text; numbers are read as well (docs/protocol.md, edge 45).
struct QoSParameters: Hashable, Sendable {
  /// The texts as they came, numbers in decimal.
  private let values: [String: String]

  init(_ values: [String: String]) { self.values = values }

  /// - Parameter object: A JSON object as Foundation reads it. Values that are neither text nor numbers are left out.
  init(_ object: [String: Any]) {
    values = object.compactMapValues { value in
      switch value {
      case let text as String: text
      case let number as NSNumber: number.stringValue
      default: nil
      }
    }
  }

  /// The text of a parameter without blanks around it; `nil` when it is absent or empty.
  func text(_ name: String) -> String? {
    guard let text = values[name]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
    return text
  }

  /// The whole number of a parameter; `nil` when it is absent, no number, has a fraction or is out of `range`.
  func number(_ name: String, in range: ClosedRange<Int64> = .min ... .max) -> Int64? {
    guard let text = text(name) else { return nil }
    // Double reads hexadecimal and words, too.
    let isDecimal = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
    let number = Int64(text) ?? (isDecimal ? Double(text).flatMap { Int64(exactly: $0) } : nil)
    return number.flatMap { range.contains($0) ? $0 : nil }
  }

  /// A port from 1 to 65535; `nil` for other values.
  func port(_ name: String) -> UInt16? { number(name, in: 1...65535).map(UInt16.init) }

  /// A time in ns, moved into `range`: 0.1 to 60 s unless the test says otherwise. `standard` when it is absent or no number.
  func time(_ name: String, standard: Int64, in range: ClosedRange<Int64> = 100_000_000...60_000_000_000) -> Int64 {
    min(max(number(name) ?? standard, range.lowerBound), range.upperBound)
  }

  /// The parameter as a result repeats it: a number where it is one, else its text; `nil` when it is absent.
  func json(_ name: String) -> JSON? { number(name).map(JSON.integer) ?? text(name).map(JSON.string) }
}
