/// What a modem tells of its radio link beside signal and serving cell: at one moment, or in a fence.
public struct RadioEnvironment: Hashable, Sendable, Codable {
  /// The 5G cell beside an LTE anchor (non-standalone); of a fence the last one.
  public var secondary: RadioCell?
  /// The timing advance in the serving cell, in the modem's own unit; of a fence the last one in its last cell.
  public var timingAdvance: Int64?
  /// The number of carriers of the serving network that are used together, at least 2; of a fence the greatest one. `nil` when the modem
  /// names one carrier: most name no more.
  public var carriers: Int?
  /// The number of neighbours; of a fence the greatest one.
  public var neighbours: Int?
  /// The neighbour with the most power, among those of the serving cell's kind.
  public var strongest: MeasuredCell?

  private enum CodingKeys: String, CodingKey {
    case carriers, neighbours
    case secondary = "nr_cell"
    case timingAdvance = "timing_advance"
    case strongest = "neighbour"
  }

  /// That of one report; `nil` when it says nothing.
  public init?(_ modem: ModemReading) {
    let kind = modem.cell?.kind
    secondary = kind == .nr ? nil : modem.secondaries.first { $0.cell.kind == .nr }?.cell
    timingAdvance = modem.timingAdvance
    let more = kind.map { kind in modem.secondaries.count { $0.cell.kind == kind } } ?? 0
    carriers = more > 0 ? more + 1 : nil
    neighbours = modem.neighbours.isEmpty ? nil : modem.neighbours.count
    let alike = modem.neighbours.filter { $0.power != nil && (kind == nil || $0.cell.kind == kind) }
    strongest = alike.max { ($0.power ?? 0) < ($1.power ?? 0) }
    guard secondary != nil || timingAdvance != nil || carriers != nil || neighbours != nil else { return nil }
  }

  /// Adds that of a later report in the same fence.
  mutating func add(_ later: RadioEnvironment) {
    secondary = later.secondary ?? secondary
    timingAdvance = later.timingAdvance ?? timingAdvance
    carriers = [carriers, later.carriers].compactMap { $0 }.max()
    neighbours = [neighbours, later.neighbours].compactMap { $0 }.max()
    if let power = later.strongest?.power, power > strongest?.power ?? -.infinity { strongest = later.strongest }
  }
}
