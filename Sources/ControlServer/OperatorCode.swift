/// The code of a mobile operator (MCC and MNC) as the control server takes it.
enum OperatorCode {
  /// `232-01` for `23201`; `nil` for other text.
  static func withDash(_ digits: String) -> String? {
    guard (5...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return "\(digits.prefix(3))-\(digits.dropFirst(3))"
  }
}
