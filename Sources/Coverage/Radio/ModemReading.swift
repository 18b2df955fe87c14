/// The modem's report at one moment, beside the technology; `nil` stands for an unknown value.
public struct ModemReading: Hashable, Sendable {
  /// How the modem is registered (3GPP TS 27.007, `+CREG`).
  public enum Registration: String, Hashable, Sendable, CaseIterable, Codable {
    case idle, home, searching, denied, roaming, emergency
  }

  /// The bits that the modem reports as access technologies (ModemManager's MMModemAccessTechnology), as they came.
  public var mask: UInt32?
  /// Whether and where the modem is registered.
  public var registration: Registration?
  /// The operator's code: country code and network code, five or six digits.
  public var operatorCode: String?
  /// The operator's name, as the network tells it.
  public var operatorName: String?
  /// The code of the operator that issued the SIM: country code and network code, five or six digits.
  public var simOperatorCode: String?
  /// The name of the operator that issued the SIM, as the SIM has it.
  public var simOperatorName: String?
  /// The measured signal.
  public var signal: [SignalQuantity: Double] = [:]
  /// The serving cell.
  public var cell: RadioCell?
  /// Further serving cells: the 5G cell beside an LTE anchor, and more carriers of the serving network.
  public var secondaries: [MeasuredCell] = []
  /// Other cells that the modem hears.
  public var neighbours: [MeasuredCell] = []
  /// The timing advance in the serving cell, in the modem's own unit.
  public var timingAdvance: Int64?

  /// Whether the modem has a network; `nil` when it does not say, or does not look for one.
  public var hasService: Bool? {
    switch registration {
    case .home, .roaming: true
    case .searching, .denied, .emergency: false
    case .idle, nil: nil
    }
  }

  /// A report without any value.
  public init() {}

  /// The report without the values that no network has.
  /// - Parameter kind: The kind of the serving cell, where the cell does not say it.
  func checked(as kind: RadioCell.Kind?) -> ModemReading {
    var reading = self
    reading.operatorCode = operatorCode.flatMap { OperatorCode($0) }?.digits
    reading.simOperatorCode = simOperatorCode.flatMap { OperatorCode($0) }?.digits
    reading.cell = cell?.checked(as: kind)
    if reading.cell?.isUnknown == true { reading.cell = nil }
    let serving = reading.cell?.kind ?? kind
    (reading.secondaries, reading.neighbours) = (Self.checked(secondaries, serving), Self.checked(neighbours, serving))
    // Of the first cell of another kind that serves beside it: a further carrier has its own.
    let other = reading.secondaries.first { $0.cell.kind != serving }
    reading.signal.merge(other?.levels ?? [:]) { measured, _ in measured }
    reading.timingAdvance = RadioCell.possible(timingAdvance: timingAdvance, as: serving)
    return reading
  }

  /// As many as a drive log's reader takes.
  private static let mostCells = 32

  private static func checked(_ cells: [MeasuredCell], _ serving: RadioCell.Kind?) -> [MeasuredCell] {
    Array(cells.compactMap { $0.checked(as: serving) }.prefix(mostCells))
  }
}

extension ModemReading: Decodable {
  private enum Key: String, CodingKey {
    case mask, registration, signal, cell, neighbours
    case secondaries = "secondary"
    case timingAdvance = "timing_advance"
    case operatorCode = "operator"
    case operatorName = "operator_name"
    case simOperatorCode = "sim_operator"
    case simOperatorName = "sim_operator_name"
  }

  /// Reads the members of a drive log's `modem` (docs/drive-log.md). A signal of an unknown name or out of its range is dropped, as is an
  /// unknown registration: a later release may know more. Codes of networks and cells that do not exist are absent. Texts are cut to 64 characters, lists of cells to 32 cells.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    func text(_ key: Key) throws -> String? {
      try values.decodeIfPresent(String.self, forKey: key).map { String($0.prefix(64)) }
    }
    mask = try values.decodeIfPresent(UInt32.self, forKey: .mask)
    registration = try text(.registration).flatMap(Registration.init)
    operatorCode = try text(.operatorCode).flatMap { OperatorCode($0) }?.digits
    operatorName = try text(.operatorName)
    simOperatorCode = try text(.simOperatorCode).flatMap { OperatorCode($0) }?.digits
    simOperatorName = try text(.simOperatorName)
    for (name, value) in try values.decodeIfPresent([String: Double].self, forKey: .signal) ?? [:] {
      if let quantity = SignalQuantity(rawValue: name), quantity.range.contains(value) { signal[quantity] = value }
    }
    cell = try values.decodeIfPresent(RadioCell.self, forKey: .cell)
    func cells(_ key: Key) throws -> [MeasuredCell] {
      Array((try values.decodeIfPresent([MeasuredCell].self, forKey: key) ?? []).prefix(Self.mostCells))
    }
    (secondaries, neighbours) = (try cells(.secondaries), try cells(.neighbours))
    timingAdvance = RadioCell.possible(
      timingAdvance: try values.decodeIfPresent(Int64.self, forKey: .timingAdvance), as: cell?.kind)
  }
}
