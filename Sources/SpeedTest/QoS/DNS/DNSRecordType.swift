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
