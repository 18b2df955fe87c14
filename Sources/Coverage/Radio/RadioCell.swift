/// A cell of a mobile network, as far as the modem tells.
public struct RadioCell: Hashable, Sendable, Codable {
  /// Mobile country code: three digits.
  public var countryCode: String?
  /// Mobile network code: two or three digits.
  public var networkCode: String?
  /// Tracking area code (LTE, 5G) or location area code (GSM, UMTS).
  public var area: Int64?
  /// Cell identity: CI (GSM, UMTS), ECI (LTE), NCI (5G), at most 36 bits.
  public var identity: Int64?
  /// Physical cell identity, or the primary scrambling code of UMTS.
  public var physical: Int64?
  /// Channel number: ARFCN, UARFCN, EARFCN or NR-ARFCN.
  public var channel: Int64?
  /// Width of the channel in kHz.
  public var bandwidth: Int64?

  private enum CodingKeys: String, CodingKey {
    case countryCode = "mcc"
    case networkCode = "mnc"
    case area
    case identity = "id"
    case physical = "pci"
    case channel
    case bandwidth = "bandwidth_khz"
  }

  /// A cell of which nothing is known.
  public init() {}

  /// Whether nothing is known of it.
  public var isUnknown: Bool { self == RadioCell() }

  /// Whether both can be the same cell: no part that both know differs. A modem can tell the parts one after the other.
  public func canBe(_ other: RadioCell) -> Bool {
    func agree<Value: Equatable>(_ part: KeyPath<RadioCell, Value?>) -> Bool {
      guard let mine = self[keyPath: part], let others = other[keyPath: part] else { return true }
      return mine == others
    }
    return agree(\.countryCode) && agree(\.networkCode) && agree(\.identity) && agree(\.area) && agree(\.physical)
      && agree(\.channel)
  }
}
