/// The code of a network (PLMN): three digits for the country (MCC), and two or three for the network (MNC), by 3GPP TS 23.003, 2.2.
public struct OperatorCode: Hashable, Sendable {
  /// The mobile country code.
  public let country: String
  /// The mobile network code.
  public let network: String

  /// - Parameters:
  ///   - country: `nil` for other text than three digits.
  ///   - network: `nil` for other text than two or three digits.
  public init?(country: String, network: String) {
    func isCode(_ text: String) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    guard country.utf8.count == 3, (2...3).contains(network.utf8.count), isCode(country), isCode(network) else {
      return nil
    }
    (self.country, self.network) = (country, network)
  }

  /// Reads five or six digits; `nil` for any other text.
  public init?(_ digits: String) {
    self.init(country: String(digits.prefix(3)), network: String(digits.dropFirst(3)))
  }

  /// As modems write it: `23201`.
  public var digits: String { country + network }

  /// As the control server takes it: `232-01`.
  public var withDash: String { "\(country)-\(network)" }
}
