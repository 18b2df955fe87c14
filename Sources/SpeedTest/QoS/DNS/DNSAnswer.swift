import Foundation

/// A resolver's answer to a query (RFC 1035, 4.1).
struct DNSAnswer: Hashable, Sendable {
  /// RCODE: 0 for success, 3 for a name that does not exist.
  let code: UInt8
  /// Whether the answer did not fit into the packet (TC); the same query by TCP brings all of it.
  let isTruncated: Bool
  /// The records of the wanted type, in their order; others, such as the CNAMEs on the way to an address, are left out.
  let entries: [DNSEntry]

  /// `nil` for anything that is no answer to `query`: another number or question, or a damaged message.
  init?(_ message: [UInt8], to query: DNSQuery) {
    var reader = DNSReader(message)
    guard let id = reader.short(), let flags = reader.short(), let questions = reader.short(),
      let answers = reader.short(), reader.bytes(4) != nil, id == query.id, flags & 0x8000 != 0
    else { return nil }
    code = UInt8(flags & 0xF)
    isTruncated = flags & 0x0200 != 0
    // Some servers leave the question out when they refuse the query.
    if questions > 0 {
      guard questions == 1, let question = reader.bytes(query.question.count),
        Self.isSame(Array(question), query.question)
      else { return nil }
    } else if code == 0 {
      return nil
    }
    guard let entries = Self.entries(&reader, count: answers, type: query.type) ?? (isTruncated ? [] : nil) else {
      return nil
    }
    self.entries = entries
  }

  /// Compares questions. Resolvers may change the case of letters.
  private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
    return one.map(lower) == other.map(lower)
  }

  /// The records of the answer section; `nil` when one is damaged.
  /// - Parameter count: The number of records by the header.
  private static func entries(_ reader: inout DNSReader, count: UInt16, type: DNSRecordType) -> [DNSEntry]? {
    var entries: [DNSEntry] = []
    for _ in 0..<count {
      guard reader.name() != nil, let found = reader.short(), let zone = reader.short(), let time = reader.long(),
        let length = reader.short()
      else { return nil }
      var data = reader
      guard reader.bytes(Int(length)) != nil else { return nil }
      guard found == type.rawValue, zone == 1 else { continue }
      guard let entry = entry(&data, type, Int(length), time), data.position <= reader.position else { return nil }
      entries.append(entry)
    }
    return entries
  }

  /// One record; `nil` when it is damaged.
  /// - Parameters:
  ///   - data: A reader at the record's data. It has the whole message, as compressed names point backwards.
  ///   - time: Seconds to live.
  private static func entry(_ data: inout DNSReader, _ type: DNSRecordType, _ length: Int, _ time: UInt32)
    -> DNSEntry?
  {
    switch type {
    case .a, .aaaa:
      guard length == (type == .a ? 4 : 16), let bytes = data.bytes(length) else { return nil }
      return address(Array(bytes)).map { DNSEntry(value: $0, timeToLive: time) }
    case .cname: return data.name().map { DNSEntry(value: $0, timeToLive: time) }
    case .mx:
      guard let priority = data.short(), let name = data.name() else { return nil }
      return DNSEntry(value: name, timeToLive: time, priority: priority)
    case .txt:
      let end = data.position + length
      var text = ""
      while data.position < end {
        guard let size = data.byte(), data.position + Int(size) <= end, let part = data.bytes(Int(size)) else {
          return nil
        }
        text += DNSReader.text(part)
      }
      return DNSEntry(value: text, timeToLive: time)
    }
  }

  private static func address(_ bytes: [UInt8]) -> String? {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
      return nil
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The code's name (RFC 1035, 4.1.1; RFC 2136).
  var codeName: String {
    let names = [
      "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH",
      "NOTZONE",
    ]
    return names.indices.contains(Int(code)) ? names[Int(code)] : "RESERVED\(code)"
  }
}

/// A record of an answer, as the result shows it.
struct DNSEntry: Hashable, Sendable {
  /// An address, a name or a text, as the type has it.
  let value: String
  /// Seconds.
  let timeToLive: UInt32
  /// The preference of a mail exchange; `nil` for other types.
  var priority: UInt16?
}

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
