import Coverage

extension Fence {
  /// A closed fence with the figures that a test does not care about filled in.
  public static func sample(
    number: Int = 0, session: Int = 0, entered: Double = 10, lasted: Double? = 4, latitude: Double = 48.2082,
    longitude: Double = 16.3738, fix: Fix? = nil, radius: Double = 20, technology: String? = "4G/LTE", pings: Int = 40,
    answered: Int = 39, rttSumNanoseconds: Int64 = 1_235_130_000, figures: PingFigures = PingFigures(),
    isSubmittable: Bool = true
  ) -> Fence {
    guard let centre = Coordinate(latitude: latitude, longitude: longitude) else {
      preconditionFailure("a test asks for a fence that is not on Earth")
    }
    return Fence(
      number: number, session: session, entered: .seconds(entered), exited: lasted.map { .seconds(entered + $0) },
      fix: fix ?? Fix(coordinate: centre, accuracy: 5, altitude: 171.3, course: 87, speed: 13.4), centre: centre,
      radius: radius, technology: technology.map(Technology.init), pings: pings, pingsAnswered: answered,
      rttSumNanoseconds: rttSumNanoseconds, figures: figures, isSubmittable: isSubmittable)
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
