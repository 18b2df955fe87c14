/// A cell of a mobile network, as far as the modem tells.
public struct RadioCell: Hashable, Sendable, Codable {
  /// A kind of radio network. It gives the codes of its cells their widths.
  public enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
    case gsm, umts, lte, nr
  }

  /// The kind of the network; `nil` when it is unknown.
  public var kind: Kind?
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
    case kind
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

  /// Reads the members of a drive log's `cell` (docs/drive-log.md). Values that no cell can have are absent (``checked(as:)``), and so is an
  /// unknown kind: a later release may know more.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys) throws -> Int64? { try values.decodeIfPresent(Int64.self, forKey: key) }
    kind = try values.decodeIfPresent(String.self, forKey: .kind).flatMap(Kind.init)
    countryCode = try values.decodeIfPresent(String.self, forKey: .countryCode)
    networkCode = try values.decodeIfPresent(String.self, forKey: .networkCode)
    (area, identity) = (try number(.area), try number(.identity))
    (physical, channel, bandwidth) = (try number(.physical), try number(.channel), try number(.bandwidth))
    self = checked(as: nil)
  }

  /// Whether nothing is known of it but its kind.
  public var isUnknown: Bool {
    var unknown = RadioCell()
    unknown.kind = kind
    return self == unknown
  }

  /// Whether both can be the same cell: no part that both know differs. A modem can tell the parts one after the other.
  public func canBe(_ other: RadioCell) -> Bool {
    func agree<Value: Equatable>(_ part: KeyPath<RadioCell, Value?>) -> Bool {
      guard let mine = self[keyPath: part], let others = other[keyPath: part] else { return true }
      return mine == others
    }
    return agree(\.countryCode) && agree(\.networkCode) && agree(\.identity) && agree(\.area) && agree(\.physical)
      && agree(\.channel) && agree(\.kind)
  }
}

extension RadioCell {
  /// The cell without the values that no cell can have: codes that 3GPP TS 23.003 reserves, numbers that do not fit their bits, and the
  /// modems' signs for "unknown", which are 0 and all bits one. Without a known kind, a value counts if any kind can have it.
  /// - Parameter network: The kind of the network, if the cell does not name its own.
  public func checked(as network: Kind?) -> RadioCell {
    var cell = self
    cell.kind = kind ?? network
    let limits = cell.kind.map { [Limits(of: $0)] } ?? Kind.allCases.map(Limits.init)
    func possible(_ value: Int64?, _ limit: (Limits) -> ClosedRange<Int64>) -> Int64? {
      value.flatMap { value in limits.contains { limit($0).contains(value) } ? value : nil }
    }
    if countryCode.flatMap({ OperatorCode(country: $0, network: networkCode ?? "00") }) == nil {
      (cell.countryCode, cell.networkCode) = (nil, nil)
    }
    cell.area = possible(area) { 1...$0.greatest(bits: $0.areaBits) }.flatMap {
      Self.reservedAreas(of: cell.kind).contains($0) ? nil : $0
    }
    cell.identity = possible(identity) { 1...$0.greatest(bits: $0.identityBits) }.flatMap {
      Self.unknownIdentities(of: cell.kind).contains($0) ? nil : $0
    }
    cell.physical = possible(physical) { 0...$0.physical }
    cell.channel = possible(channel) { 0...$0.channel }
    cell.bandwidth = bandwidth.flatMap { (1...400_000).contains($0) ? $0 : nil }
    return cell
  }

  /// The timing advance, if it fits the bits of its kind: 6 in GSM (3GPP TS 45.010, 5.6), 11 in LTE up to 1282 (TS 36.213, 4.2.3), 12 in 5G
  /// up to 3846 (TS 38.213, 4.2). UMTS has none. Without a known kind, it counts if any kind can have it.
  static func possible(timingAdvance: Int64?, as kind: Kind?) -> Int64? {
    let limit: Int64 =
      switch kind {
      case .gsm: 63
      case .umts: -1
      case .lte: 1282
      case .nr, nil: 3846
      }
    return timingAdvance.flatMap { $0 >= 0 && $0 <= limit ? $0 : nil }
  }

  /// 3GPP TS 23.003, 4.1 (location areas), 19.4.2.3 (LTE) and 28.6 (5G): the greatest even code of the width is reserved, as is 0.
  private static func reservedAreas(of kind: Kind?) -> [Int64] {
    switch kind {
    case .nr: [0xFF_FFFE, 0xFF_FFFF]
    case .some: [0xFFFE, 0xFFFF]
    case nil: [0xFFFE, 0xFFFF, 0xFF_FFFE, 0xFF_FFFF]
    }
  }

  /// All bits one, by the width of the identity or of the modem's own number.
  private static func unknownIdentities(of kind: Kind?) -> [Int64] {
    switch kind {
    case .gsm: [0xFFFF]
    case .umts, .lte: [0xFFF_FFFF]
    case .nr, nil: [0xFFF_FFFF, 0xFFFF_FFFF, 0xF_FFFF_FFFF]
    }
  }

  /// The widths of a kind's codes (3GPP TS 23.003, 4.3, 4.7, 19.6, 19.6A) and its greatest numbers: base station colour or scrambling code or
  /// physical identity (TS 23.003, 4.3.2; TS 25.213, 5.2.3; TS 36.211, 6.11; TS 38.211, 7.4.2.1), and channel (TS 45.005, 2; TS 25.101,
  /// 5.4.3; TS 36.101, 5.7.3; TS 38.104, 5.4.2.1).
  private struct Limits {
    let areaBits: Int
    let identityBits: Int
    let physical: Int64
    let channel: Int64

    init(of kind: Kind) {
      (areaBits, identityBits, physical, channel) =
        switch kind {
        case .gsm: (16, 16, 63, 1023)
        case .umts: (16, 28, 511, 16_383)
        case .lte: (16, 28, 503, 262_143)
        case .nr: (24, 36, 1007, 3_279_165)
        }
    }

    func greatest(bits: Int) -> Int64 { (1 << Int64(bits)) - 1 }
  }
}

/// A cell with its measured levels, as a modem lists it.
public struct MeasuredCell: Hashable, Sendable, Codable {
  /// The cell.
  public var cell: RadioCell
  /// Its levels in dBm and dB (``SignalQuantity``).
  public var levels: [SignalQuantity: Double]

  /// A cell with its levels.
  public init(_ cell: RadioCell, levels: [SignalQuantity: Double] = [:]) {
    (self.cell, self.levels) = (cell, levels)
  }

  /// The received power in dBm, of the newest technology that has one.
  public var power: Double? {
    [SignalQuantity.nrRSRP, .rsrp, .rscp, .rssi].lazy.compactMap { levels[$0] }.first
  }

  /// Without values that no cell can have (``RadioCell/checked(as:)``) and levels out of their range; `nil` when nothing is left. Levels have
  /// the resolution of the drive log, a tenth: of two neighbours, a replay must find the same one stronger.
  /// - Parameter serving: The kind of the serving cell, and of a cell that neither names its own nor has a level of 5G.
  func checked(as serving: RadioCell.Kind?) -> MeasuredCell? {
    let isNR = levels.keys.contains { [.nrRSRP, .nrRSRQ, .nrSINR].contains($0) }
    let possible = levels.filter { $0.key.range.contains($0.value) }.mapValues { ($0 * 10).rounded() / 10 }
    let checked = MeasuredCell(cell.checked(as: isNR ? .nr : serving), levels: possible)
    return checked.cell.isUnknown ? nil : checked
  }

  private struct Key: CodingKey {
    let stringValue: String
    let intValue: Int? = nil
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads the members of a cell (docs/drive-log.md) with its levels beside them. Levels out of their range are dropped.
  public init(from decoder: any Decoder) throws {
    cell = try RadioCell(from: decoder)
    let values = try decoder.container(keyedBy: Key.self)
    levels = [:]
    for quantity in SignalQuantity.allCases {
      let level = try values.decodeIfPresent(Double.self, forKey: Key(stringValue: quantity.rawValue))
      if let level, quantity.range.contains(level) { levels[quantity] = level }
    }
  }

  /// Writes the same members.
  public func encode(to encoder: any Encoder) throws {
    try cell.encode(to: encoder)
    var values = encoder.container(keyedBy: Key.self)
    for (quantity, level) in levels { try values.encode(level, forKey: Key(stringValue: quantity.rawValue)) }
  }
}
