/// A question to a resolver (RFC 1035, 4.1).
struct DNSQuery: Hashable, Sendable {
  /// The number of the query, which its answer repeats. ``DNSTest`` chooses it at random.
  let id: UInt16
  let type: DNSRecordType
  let labels: [[UInt8]]

  /// `nil` for a text that is no name of the DNS: empty labels, labels of more than 63 bytes, more than 255 in all, other than
  /// printable ASCII. A dot at the end is permitted.
  init?(_ name: String, _ type: DNSRecordType, id: UInt16) {
    let text = name.hasSuffix(".") ? name.dropLast() : Substring(name)
    labels = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
    (self.id, self.type) = (id, type)
    guard labels.allSatisfy({ (1...63).contains($0.count) && $0.allSatisfy { (0x21...0x7E).contains($0) } }),
      labels.reduce(1, { $0 + $1.count + 1 }) <= 255
    else { return nil }
  }

  /// The message: one question, recursion desired.
  var bytes: [UInt8] {
    [UInt8(id >> 8), UInt8(id & 0xFF), 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0] + question
  }

  /// The name, type and class IN.
  var question: [UInt8] {
    labels.flatMap { [UInt8($0.count)] + $0 } + [0, UInt8(type.rawValue >> 8), UInt8(type.rawValue & 0xFF), 0, 1]
  }
}

/// The types of records that a test can ask for, by their numbers (RFC 1035, 3.2.2; RFC 3596).
enum DNSRecordType: UInt16, Hashable, Sendable, CaseIterable {
  case a = 1
  case cname = 5
  case mx = 15
  case txt = 16
  case aaaa = 28

  /// `nil` for any other name; case does not matter.
  init?(name: String) {
    guard let type = Self.allCases.first(where: { "\($0)" == name.lowercased() }) else { return nil }
    self = type
  }
}
