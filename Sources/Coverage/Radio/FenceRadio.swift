/// The modem's reports while the device was in a fence, weighted by time.
public struct FenceRadio: Hashable, Sendable, Codable {
  /// The time on one technology.
  public struct Stretch: Hashable, Sendable, Codable {
    /// The name of the technology; `nil` for the time without one.
    public let technology: String?
    /// Microseconds, not negative.
    public let microseconds: Int64

    /// The time on one technology.
    public init(technology: String?, microseconds: Int64) {
      (self.technology, self.microseconds) = (technology, microseconds)
    }
  }

  /// The distribution of one quantity, in its unit (``SignalQuantity``).
  public struct Level: Hashable, Sendable, Codable {
    /// The quantity.
    public let quantity: SignalQuantity
    /// The lowest value.
    public let minimum: Double
    /// The value below and above which it was for at most half of the time in which it was known.
    public let median: Double
    /// The highest value.
    public let maximum: Double

    /// The distribution of one quantity.
    public init(quantity: SignalQuantity, minimum: Double, median: Double, maximum: Double) {
      (self.quantity, self.minimum, self.median, self.maximum) = (quantity, minimum, median, maximum)
    }
  }

  /// The time on each technology, in order of their first appearance.
  public var technologies: [Stretch] = []
  /// The signal's distributions, in the order of ``SignalQuantity``; without those that were never known.
  public var levels: [Level] = []
  /// How often the serving cell changed.
  public var cellChanges = 0
  /// The last serving cell.
  public var cell: RadioCell?
  /// The last operator's code, five or six digits.
  public var operatorCode: String?
  /// The last operator's name.
  public var operatorName: String?
  /// The code of the operator that issued the SIM, five or six digits.
  public var simOperatorCode: String?
  /// The name of the operator that issued the SIM.
  public var simOperatorName: String?
  /// Whether the modem was roaming at any time.
  public var isRoaming = false
  /// Secondary cell, timing advance, carriers and neighbours; `nil` when the modem told none of them.
  public var environment: RadioEnvironment?

  private enum CodingKeys: String, CodingKey {
    case technologies, levels, cell, environment
    case cellChanges = "cell_changes"
    case operatorCode = "operator"
    case operatorName = "operator_name"
    case simOperatorCode = "sim_operator"
    case simOperatorName = "sim_operator_name"
    case isRoaming = "roaming"
  }

  /// Nothing reported.
  public init() {}

  /// Whether a modem told more than its technologies. Without it, it is not known whether it was roaming or changed the cell.
  public var isOfModem: Bool {
    isRoaming || cellChanges > 0 || cell != nil || operatorCode != nil || !levels.isEmpty
  }

  /// The lowest level in dBm of the quantity that stands for this technology (docs/protocol.md, 5); `nil` when it was never known.
  public func minimumLevel(of technology: Technology?) -> Double? {
    Self.quantities(of: technology).lazy.compactMap { wanted in levels.first { $0.quantity == wanted }?.minimum }.first
  }

  /// The quantities in dBm that stand for a technology, the first one before the others (docs/protocol.md, 5).
  public static func quantities(of technology: Technology?) -> [SignalQuantity] {
    switch technology?.generation {
    case .fiveStandalone: [.nrRSRP]
    case .four, .fiveNonStandalone: [.rsrp]
    case .three: [.rscp, .rssi]
    case .two: [.rssi]
    case .noNetwork, nil: []
    }
  }
}
