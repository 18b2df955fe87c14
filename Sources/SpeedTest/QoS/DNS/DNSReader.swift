/// Reads the fields of a DNS message, big-endian. At the end of the message a read returns `nil`, so no bytes can make it run on.
struct DNSReader: Sendable {
  private let message: [UInt8]
  private(set) var position: Int

  init(_ message: [UInt8], at position: Int = 0) { (self.message, self.position) = (message, position) }

  mutating func byte() -> UInt8? { bytes(1)?.first }

  mutating func short() -> UInt16? { bytes(2).map { $0.reduce(0) { $0 << 8 | UInt16($1) } } }

  mutating func long() -> UInt32? { bytes(4).map { $0.reduce(0) { $0 << 8 | UInt32($1) } } }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= message.count - position else { return nil }
    defer { position += count }
    return message[position..<position + count]
  }

  /// A name, perhaps compressed (RFC 1035, 4.1.4), without the dot at its end; `.` for the root.
  ///
  /// A pointer must point to before the part of the name that it stands in, so pointers cannot form a loop.
  mutating func name() -> String? {
    var (labels, length) = ([String](), 0)
    var reader = self
    var start = position
    var end: Int?
    while let size = reader.byte() {
      switch size >> 6 {
      case 0 where size == 0:
        position = end ?? reader.position
        return labels.isEmpty ? "." : labels.joined(separator: ".")
      case 0:
        guard let label = reader.bytes(Int(size)) else { return nil }
        length += label.count + 1
        guard length <= 255 else { return nil }
        labels.append(Self.text(label, escaping: true))
      case 3:
        guard let low = reader.byte() else { return nil }
        let target = Int(size & 0x3F) << 8 | Int(low)
        guard target < start else { return nil }
        end = end ?? reader.position
        start = target
        reader = DNSReader(message, at: target)
      default: return nil
      }
    }
    return nil
  }

  /// Bytes as text; others than printable ASCII as `\DDD` (RFC 1035, 5.1).
  /// - Parameter isLabel: Whether a dot and a backslash are escaped too, as in a label of a name.
  static func text(_ bytes: ArraySlice<UInt8>, escaping isLabel: Bool = false) -> String {
    var text = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\\") where isLabel, UInt8(ascii: ".") where isLabel: text += "\\" + String(UnicodeScalar(byte))
      case 0x20...0x7E: text.unicodeScalars.append(UnicodeScalar(byte))
      default:
        let digits = String(byte)
        text += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      }
    }
    return text
  }
}
