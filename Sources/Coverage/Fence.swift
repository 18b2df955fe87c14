/// A circle on the ground and what was measured in it (spec 1.1).
public struct Fence: Hashable, Sendable {
  /// Position among the drive's fences, from 0, in order of entry.
  public let number: Int
  /// Which of the drive's sessions it belongs to (``Session/number``).
  public let session: Int
  public let entered: DriveTime
  /// `nil` while the fence is open.
  public internal(set) var exited: DriveTime?
  /// The fix that opened it; its position is the centre, which never moves.
  public let fix: Fix
  public let centre: Coordinate
  /// Metres; frozen when the fence opens.
  public let radius: Double
  /// The last one seen with an accurate fix in the fence; `nil` when there was none.
  public internal(set) var technology: Technology?
  /// Pings sent in this fence that have an outcome, answered or not.
  public internal(set) var pings: Int
  /// Of these, the answered ones.
  public internal(set) var pingsAnswered: Int
  /// Sum of the answered pings' round-trip times, in nanoseconds.
  public internal(set) var rttSumNanoseconds: Int64
  /// Up to date in fences that effects carry and in ``Engine/openFence``.
  public internal(set) var figures: PingFigures
  /// `false` once Wi-Fi has touched the fence: then it is never sent (spec 2.6).
  public internal(set) var isSubmittable: Bool

  public init(
    number: Int, session: Int, entered: DriveTime, exited: DriveTime? = nil, fix: Fix, centre: Coordinate,
    radius: Double, technology: Technology? = nil, pings: Int = 0, pingsAnswered: Int = 0,
    rttSumNanoseconds: Int64 = 0, figures: PingFigures = PingFigures(), isSubmittable: Bool = true
  ) {
    self.number = number
    self.session = session
    self.entered = entered
    self.exited = exited
    self.fix = fix
    self.centre = centre
    self.radius = radius
    self.technology = technology
    self.pings = pings
    self.pingsAnswered = pingsAnswered
    self.rttSumNanoseconds = rttSumNanoseconds
    self.figures = figures
    self.isSubmittable = isSubmittable
  }

  /// Mean round-trip time of the answered pings in nanoseconds, rounded half up; `nil` when none was answered.
  public var meanRTTNanoseconds: Int64? {
    guard pingsAnswered > 0 else { return nil }
    let (mean, remainder) = rttSumNanoseconds.quotientAndRemainder(dividingBy: Int64(pingsAnswered))
    return remainder >= Int64(pingsAnswered) - remainder ? mean + 1 : mean
  }

  /// How long the fence lasted; `nil` while it is open.
  public var duration: Duration? { exited.map { $0 - entered } }

  mutating func uncount(_ outcome: PingOutcome) {
    pings -= 1
    if case .answered(let rttNanoseconds, _) = outcome {
      pingsAnswered -= 1
      rttSumNanoseconds -= min(rttNanoseconds, rttSumNanoseconds)
    }
  }

  mutating func count(_ outcome: PingOutcome) {
    pings += 1
    if case .answered(let rttNanoseconds, _) = outcome {
      pingsAnswered += 1
      let (sum, isTooMuch) = rttSumNanoseconds.addingReportingOverflow(rttNanoseconds)
      rttSumNanoseconds = isTooMuch ? .max : sum
    }
  }
}
