import Coverage
import OrderedJSON

extension JSON {
  /// A time as seconds since the start of the drive, exact to the microsecond.
  public static func seconds(_ time: DriveTime) -> JSON { .decimal(units: time.microseconds, places: 6) }

  /// A duration in seconds, exact to the microsecond.
  public static func seconds(_ duration: Duration) -> JSON { .decimal(units: duration.inMicroseconds, places: 6) }

  /// Nanoseconds in milliseconds, without rounding.
  public static func milliseconds(nanoseconds: Int64) -> JSON { .decimal(units: nanoseconds, places: 6) }
}

extension DriveTime {
  /// The time to the nearest microsecond; `nil` for NaN, and for `limit` seconds or more in either direction.
  init?(seconds: Double, limit: Double = 1e9) {
    guard abs(seconds) < limit else { return nil }
    self.init(microseconds: Int64((seconds * 1e6).rounded()))
  }
}

/// A round-trip time in a line of a drive log, `{"rtt_ms":31.67}`.
struct RoundTripValue: Decodable {
  let nanoseconds: Int64

  /// In nanoseconds, up to an hour: no ping waits longer.
  static let possible: ClosedRange<Int64> = 0...3_600_000_000_000

  private enum Key: String, CodingKey {
    case rtt = "rtt_ms"
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    let milliseconds = try values.decode(Double.self, forKey: .rtt)
    let limits = Double(Self.possible.lowerBound) / 1e6...Double(Self.possible.upperBound) / 1e6
    guard limits.contains(milliseconds) else {
      throw DecodingError.dataCorruptedError(
        forKey: .rtt, in: values, debugDescription: "\(milliseconds) is not a round-trip time")
    }
    nanoseconds = Int64((milliseconds * 1e6).rounded())
  }
}

extension ModemReading {
  /// The value of a drive log's `modem` event (docs/drive-log.md); ``init(from:)`` reads it.
  public var json: JSON {
    return .object([
      "mask": mask.map { .integer(Int64($0)) },
      "registration": registration.map { .string($0.rawValue) },
      "operator": operatorCode.map(JSON.string),
      "operator_name": operatorName.map(JSON.string),
      "sim_operator": simOperatorCode.map(JSON.string),
      "sim_operator_name": simOperatorName.map(JSON.string),
      "signal": levels(signal).isEmpty ? nil : .object(levels(signal)),
      "cell": cell.map { .object(members($0)) },
      "timing_advance": timingAdvance.map(JSON.integer),
      "secondary": cells(secondaries),
      "neighbours": cells(neighbours),
    ])
  }

  private func levels(_ levels: [SignalQuantity: Double]) -> [JSON.Member] {
    SignalQuantity.allCases.compactMap { quantity in
      levels[quantity].map { JSON.Member(quantity.rawValue, JSON.rounded($0, places: 1) ?? .number($0)) }
    }
  }

  /// Each cell with its levels; `nil` without any.
  private func cells(_ cells: [MeasuredCell]) -> JSON? {
    cells.isEmpty ? nil : .array(cells.map { .object(members($0.cell) + levels($0.levels)) })
  }

  private func members(_ cell: RadioCell) -> [JSON.Member] {
    JSON.members([
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

extension ModemEquipment {
  /// The value of a drive log's `equipment` event (docs/drive-log.md), also in the store and in exports; ``init(from:)`` reads it.
  public var json: JSON {
    .object([
      "manufacturer": manufacturer.map(JSON.string), "model": model.map(JSON.string),
      "firmware": firmware.map(JSON.string), "sim": sim.map(JSON.string),
      "sim_operator": simOperatorCode.map(JSON.string), "sim_operator_name": simOperatorName.map(JSON.string),
      "apn": accessPoint.map(JSON.string), "bearer": bearer.map { .string($0.rawValue) },
      "ip_family": addresses.map { .string($0.rawValue) },
    ])
  }
}
