/// A circle on the ground with the pings that were sent in it (docs/algorithm.md, 1).
public struct Fence: Hashable, Sendable {
  /// Position among the drive's fences, from 0, in order of entry.
  public let number: Int
  /// The ``Session/number`` of the session to which the fence belongs.
  public let session: Int
  /// When the fence opened.
  public let entered: DriveTime
  /// When the fence ended; `nil` while it is open.
  public internal(set) var exited: DriveTime?
  /// The fix that opened the fence.
  public let fix: Fix
  /// The position of ``fix``; it never moves.
  public let centre: Coordinate
  /// Metres; fixed when the fence opens (``Parameters/radius(of:)``).
  public let radius: Double
  /// The technology at the last accurate fix in the fence; `nil` when it was unknown at all of them.
  public internal(set) var technology: Technology?
  /// Pings with an outcome, answered or failed, that were sent in this fence.
  public internal(set) var pings: Int
  /// Of ``pings``, those that were answered in time.
  public internal(set) var pingsAnswered: Int
  /// Sum of the answered pings' round-trip times in nanoseconds; saturates.
  public internal(set) var rttSumNanoseconds: Int64
  /// Figures beyond the sums. They are current in fences that effects carry and in ``Engine/openFence``, not in ``Engine/fences``.
  public internal(set) var figures: PingFigures
  /// The modem's report; `nil` without one. It is current in fences that effects carry and in ``Engine/openFence``.
  public internal(set) var radio: FenceRadio? {
    get { radioOnHeap?.value }
    set { radioOnHeap = newValue.map { .value($0) } }
  }
  /// Whether the fence overlaps time in which the probe sent no pings for a reason of its own (``Event/Kind/unmeasured(_:)``).
  var overlapsPause = false
  /// ``isSubmittable`` of the fence for reasons other than ``isUnmeasured``.
  private var isAdmitted: Bool
  /// ``radio``, outside of the fence: a drive has thousands of fences in memory, and many devices have no modem.
  private var radioOnHeap: OnHeap<FenceRadio>?

  /// A fence with the given values, as the engine opens it or the store reads it.
  public init(
    number: Int, session: Int, entered: DriveTime, exited: DriveTime? = nil, fix: Fix, centre: Coordinate,
    radius: Double, technology: Technology? = nil, pings: Int = 0, pingsAnswered: Int = 0,
    rttSumNanoseconds: Int64 = 0, figures: PingFigures = PingFigures(), radio: FenceRadio? = nil,
    isSubmittable: Bool
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
    isAdmitted = isSubmittable
    self.radio = radio
  }

  /// `false` for a fence that is never submitted: it overlaps Wi-Fi time (docs/algorithm.md, 5), or ``isUnmeasured``.
  public var isSubmittable: Bool { isAdmitted && !isUnmeasured }

  /// Whether the fence says nothing about coverage, because the probe itself could not measure (docs/algorithm.md, 4): no ping was
  /// answered, and more of them could not be sent than were lost, or none was sent for a reason of the probe's own.
  var isUnmeasured: Bool {
    pingsAnswered == 0 && (figures.unsent > pingsLost || (pings == 0 && overlapsPause))
  }

  /// Excludes the fence from submission.
  /// - Returns: Whether that is new.
  mutating func exclude() -> Bool {
    defer { isAdmitted = false }
    return isAdmitted
  }

  /// Of ``pings``, those that were not answered in time.
  public var pingsLost: Int { pings.saturatingSubtracting(pingsAnswered) }

  /// Whether its pings tell that there is coverage or none. Without pings they do not; nor do unanswered ones beside Wi-Fi time,
  /// because the change of the link loses pings on its own.
  public var isMeasured: Bool { pings > 0 && (pingsAnswered > 0 || isSubmittable) }

  /// Mean round-trip time of the answered pings in nanoseconds, rounded half up; `nil` when none was answered.
  public var meanRTTNanoseconds: Int64? {
    guard pingsAnswered > 0 else { return nil }
    let (mean, remainder) = rttSumNanoseconds.quotientAndRemainder(dividingBy: Int64(pingsAnswered))
    return remainder >= Int64(pingsAnswered) - remainder ? mean + 1 : mean
  }

  /// The 95th percentile of the round-trip times in nanoseconds; `nil` for fewer than ``NearestRank/fewestFor95`` answered pings.
  public var percentile95: Int64? {
    pingsAnswered >= NearestRank.fewestFor95 ? figures.roundTrip?.percentile95 : nil
  }

  /// How long the fence lasted; `nil` while it is open.
  public var duration: Duration? { exited.map { $0 - entered } }

  /// Takes back ``count(_:)`` of the same outcome.
  mutating func uncount(_ outcome: PingOutcome) {
    if case .unsent(let count) = outcome {
      figures.unsent = max(0, figures.unsent.saturatingSubtracting(count))
      return
    }
    pings -= 1
    if case .answered(let rttNanoseconds, _) = outcome {
      pingsAnswered -= 1
      rttSumNanoseconds -= min(rttNanoseconds, rttSumNanoseconds)
    }
  }

  mutating func count(_ outcome: PingOutcome) {
    if case .unsent(let count) = outcome {
      figures.unsent = figures.unsent.saturatingAdding(count)
      return
    }
    pings += 1
    if case .answered(let rttNanoseconds, _) = outcome {
      pingsAnswered += 1
      let (sum, isTooMuch) = rttSumNanoseconds.addingReportingOverflow(rttNanoseconds)
      rttSumNanoseconds = isTooMuch ? .max : sum
    }
  }
}

/// A value in memory of its own: eight bytes where it is kept. For large values that most of their owners do not have.
indirect enum OnHeap<Value> {
  case value(Value)

  var value: Value {
    switch self {
    case .value(let value): value
    }
  }
}

extension OnHeap: Equatable where Value: Equatable {}
extension OnHeap: Hashable where Value: Hashable {}
extension OnHeap: Sendable where Value: Sendable {}
