import Coverage

extension Fence {
  /// A closed fence, with defaults for the figures that a test does not set.
  public static func sample(
    number: Int = 0, session: Int = 0, entered: Double = 10, lasted: Double? = 4, latitude: Double = 48.2082,
    longitude: Double = 16.3738, fix: Fix? = nil, radius: Double = 20, technology: String? = "4G/LTE", pings: Int = 40,
    answered: Int = 39, rttSumNanoseconds: Int64 = 1_235_130_000, figures: PingFigures = PingFigures(),
    radio: FenceRadio? = nil, isSubmittable: Bool = true
  ) -> Fence {
    guard let centre = Coordinate(latitude: latitude, longitude: longitude) else {
      preconditionFailure("a test asks for a fence that is not on Earth")
    }
    return Fence(
      number: number, session: session, entered: .seconds(entered), exited: lasted.map { .seconds(entered + $0) },
      fix: fix ?? Fix(coordinate: centre, accuracy: 5, altitude: 171.3, course: 87, speed: 13.4), centre: centre,
      radius: radius, technology: technology.map(Technology.init), pings: pings, pingsAnswered: answered,
      rttSumNanoseconds: rttSumNanoseconds, figures: figures, radio: radio, isSubmittable: isSubmittable)
  }
}

extension DriveTime {
  public static func seconds(_ seconds: Double) -> DriveTime {
    DriveTime(microseconds: Int64((seconds * 1e6).rounded()))
  }
}

extension WallTime {
  /// 2026-11-20T10:00:00.000Z
  public static let sampleStart = WallTime(microseconds: 1_795_168_800_000_000)

  public func later(by duration: Duration) -> WallTime {
    WallTime(microseconds: microseconds + duration.inMicroseconds)
  }
}

extension ModemReading {
  /// Registered at home on an LTE cell.
  public static var sample: ModemReading {
    var reading = ModemReading()
    reading.mask = 1 << 14
    reading.registration = .home
    (reading.operatorCode, reading.operatorName) = ("23201", "A \"Network\"")
    reading.signal = [.rsrp: -91.5, .rsrq: -10]
    reading.cell = .sample(0x0102_0304)
    reading.timingAdvance = 5
    reading.secondaries = [MeasuredCell(.secondary, levels: [.nrRSRP: -99.5, .nrSINR: 12])]
    reading.neighbours = [MeasuredCell(RadioCell()), MeasuredCell(.sample(7), levels: [.rsrp: -101.5, .rsrq: -14])]
    return reading
  }
}

extension RadioCell {
  public static func sample(_ identity: Int64) -> RadioCell {
    var cell = RadioCell()
    (cell.countryCode, cell.networkCode, cell.area, cell.identity) = ("232", "01", 0x1A2B, identity)
    (cell.physical, cell.channel, cell.bandwidth) = (123, 1300, 20_000)
    return cell
  }

  /// The 5G cell beside an LTE anchor.
  public static var secondary: RadioCell {
    var cell = RadioCell()
    (cell.kind, cell.physical, cell.channel) = (.nr, 31, 632_628)
    return cell
  }
}

extension ModemEquipment {
  /// With every value.
  public static var sample: ModemEquipment {
    var equipment = ModemEquipment()
    (equipment.manufacturer, equipment.model, equipment.firmware) = ("Maker", "M <1>", "R1.2")
    (equipment.sim, equipment.simOperatorCode, equipment.simOperatorName) = ("0123456789abcdef", "23201", "A1")
    (equipment.accessPoint, equipment.bearer, equipment.addresses) = ("internet", .standard, .ipv4v6)
    return equipment
  }
}

extension FenceRadio {
  /// Mostly LTE, with two changes of cell.
  public static var sample: FenceRadio {
    var radio = FenceRadio()
    radio.technologies = [
      Stretch(technology: "4G/LTE", microseconds: 3_000_000), Stretch(technology: nil, microseconds: 1_000_000),
    ]
    radio.levels = [Level(quantity: .rsrp, minimum: -111.5, median: -91, maximum: -80.5)]
    (radio.cellChanges, radio.cell) = (2, .sample(0x0102_0304))
    (radio.operatorCode, radio.operatorName, radio.isRoaming) = ("23201", "A <Network>", true)
    return radio
  }
}
