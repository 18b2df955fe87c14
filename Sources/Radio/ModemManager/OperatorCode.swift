/// The code of a network (PLMN): three digits for the country (MCC), and two or three for the network (MNC).
struct OperatorCode: Hashable {
  let country: String
  let network: String

  /// `nil` for any other text.
  init?(_ text: String) {
    guard (5...6).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    (country, network) = (String(text.prefix(3)), String(text.dropFirst(3)))
  }
}
