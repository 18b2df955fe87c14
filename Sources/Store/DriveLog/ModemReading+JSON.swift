import Coverage
import OrderedJSON

extension ModemReading {
  /// The value of a drive log's `modem` event (docs/drive-log.md); ``init(from:)`` reads it.
  public var json: JSON {
    let levels = SignalQuantity.allCases.compactMap { quantity in
      signal[quantity].map { JSON.Member(quantity.rawValue, JSON.rounded($0, places: 1) ?? .number($0)) }
    }
    return .object([
      "mask": mask.map { .integer(Int64($0)) },
      "registration": registration.map { .string($0.rawValue) },
      "operator": operatorCode.map(JSON.string),
      "operator_name": operatorName.map(JSON.string),
      "sim_operator": simOperatorCode.map(JSON.string),
      "sim_operator_name": simOperatorName.map(JSON.string),
      "signal": levels.isEmpty ? nil : .object(levels),
      "cell": cell.map(Self.json),
      "neighbours": neighbours.isEmpty ? nil : .array(neighbours.map(Self.json)),
    ])
  }

  private static func json(_ cell: RadioCell) -> JSON {
    .object([
      "kind": cell.kind.map { .string($0.rawValue) },
      "mcc": cell.countryCode.map(JSON.string),
      "mnc": cell.networkCode.map(JSON.string),
      "area": cell.area.map(JSON.integer),
      "id": cell.identity.map(JSON.integer),
      "pci": cell.physical.map(JSON.integer),
      "channel": cell.channel.map(JSON.integer),
      "bandwidth_khz": cell.bandwidth.map(JSON.integer),
    ])
  }
}
