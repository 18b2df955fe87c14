/// Decides which wall time the times of a drive come from, and why: GNSS, the control server or the host.
///
/// Each clock is reduced to one figure: the wall time of the host's boot by that clock, its reading less CLOCK_BOOTTIME. That
/// figure stays the same as long as the clock runs at the pace of CLOCK_BOOTTIME; a change of it is a step of that clock.
///
/// The rules, in this order (docs/clock.md):
/// 1. Two clocks that agree rule.
/// 2. A step of the host's clock is followed when no other clock contradicts it.
/// 3. A time that two of three clocks contradict is never moved to: the ruling stays.
///
/// A pure value: it reads no clock. All arithmetic on readings saturates.
public struct WallClock: Hashable, Sendable, Codable {
  /// The clock that rules; the agreement that is behind it is in ``Ruling/agreeing``.
  public enum Source: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    case gnss, server, host

    public static func < (left: Source, right: Source) -> Bool { left.rawValue < right.rawValue }
  }

  /// Why a clock rules.
  public enum Reason: String, Hashable, Sendable, Codable {
    /// Only the host's clock is known.
    case alone = "no other clock is known"
    /// Two or more clocks agree.
    case agreement = "two clocks agree"
    /// The host's clock was set, and another clock agrees with its time before that.
    case contradictedStep = "another clock contradicts the step of the host's clock"
    /// The host's clock shows a time before this program was made, or 19 years later.
    case hostNotSet = "the host's clock is not set"
    /// The receiver's time is steady and only the host's clock, which no other clock confirms, contradicts it.
    case steady = "the receiver's time is steady, and no other clock confirms the host's"
    /// No two clocks agree: the ruling stays.
    case disagreement = "no two clocks agree"
  }

  /// The wall time to use, and why.
  public struct Ruling: Hashable, Sendable, Codable {
    /// The wall time at which CLOCK_BOOTTIME was 0.
    public internal(set) var booted: WallTime
    public internal(set) var source: Source
    public internal(set) var reason: Reason
    /// Whether two clocks agreed on it, now or when it was made.
    public internal(set) var isConfirmed: Bool
    /// The clocks that agree with it now.
    public internal(set) var agreeing: [Source] = []
    /// The clocks that contradict it now.
    public internal(set) var contradicting: [Source] = []
    /// Whether no clock is known that can be right: then ``booted`` is the host's.
    public internal(set) var isTrusted = true

    /// The wall time `boot` after the host's boot.
    public func wall(at boot: Duration) -> WallTime { booted.adding(boot) }

    /// Whether `other` says the same but for the figure.
    public func isSame(as other: Ruling) -> Bool {
      (source, reason, isTrusted) == (other.source, other.reason, other.isTrusted)
        && (agreeing, contradicting) == (other.agreeing, other.contradicting)
    }
  }

  /// No clock is right that shows a time outside of these 1024 weeks: a receiver that counts weeks wrongly by a rollover, in
  /// either direction, always does.
  public static let plausible: Range<WallTime> =
    .earliestTrusted..<WallTime.earliestTrusted.adding(.seconds(1024 * 7 * 86_400))

  /// Readings of clocks that are to agree differ by no more than this and their own margins.
  static let tolerance: Int64 = 1_500_000
  /// Serial lines deliver a receiver's time late.
  static let receiverMargin: Int64 = 1_500_000
  /// Microseconds that two clocks can drift apart in a second.
  static let driftPerSecond: Int64 = 100
  /// Smaller differences of the host's clock come from reading two clocks one after the other.
  static let smallestStep: Int64 = 1_000_000
  /// Smaller differences of other clocks come from delays on the way.
  static let smallestCorrection: Int64 = 1_500_000
  private static let formerLimit = 8
  private static let receiverLimit = 8

  /// The ruling of the last ``judge(host:at:)``.
  public private(set) var ruling: Ruling?
  var host: HostTrack?
  /// Times of the boot by the host's clock before it was set, the latest first.
  var former: [WallTime] = []
  var server: Reading?
  /// By gpsd's path of the receiver; empty for a receiver without a name.
  var receivers: [String: ReceiverTrack] = [:]

  public init() {}

  /// Whether the control server has told its time in this boot.
  public var knowsServer: Bool { server != nil }

  /// The wall time by the control server's clock; `nil` when it is not known.
  public func serverTime(at boot: Duration) -> WallTime? { server?.booted.adding(boot) }

  /// A moment of another clock.
  struct Reading: Hashable, Sendable, Codable {
    /// The wall time of the boot by it.
    var booted: WallTime
    /// Since the boot.
    var at: Duration
    /// Microseconds.
    var margin: Int64

    func margin(at boot: Duration) -> Int64 { margin.saturatingAdding(Self.drift(from: at, to: boot)) }

    static func drift(from: Duration, to: Duration) -> Int64 {
      max(0, (to - from).components.seconds).saturatingMultiplied(by: WallClock.driftPerSecond)
    }
  }

  // MARK: Readings

  /// Notes the time of a receiver with a fix.
  /// - Parameters:
  ///   - time: Told together with a fix; a time without one is none.
  ///   - receiver: gpsd's path of it.
  ///   - boot: When it arrived, since the boot.
  public mutating func note(gnss time: WallTime, receiver: String?, at boot: Duration) {
    guard Self.plausible.contains(time) else { return }
    let name = receiver ?? ""
    let booted = time.adding(.zero - boot)
    if receivers[name] == nil, receivers.count >= Self.receiverLimit,
      let oldest = receivers.min(by: { $0.value.latest < $1.value.latest })
    {
      receivers[oldest.key] = nil
    }
    receivers[name, default: ReceiverTrack()].note(booted, at: boot)
  }

  /// Notes the `Date` of an answer of the control server.
  /// - Parameters:
  ///   - date: In whole seconds, cut off.
  ///   - boot: When the answer arrived, since the boot.
  ///   - roundTrip: From the beginning of the request to the answer.
  public mutating func note(server date: WallTime, at boot: Duration, roundTrip: Duration) {
    guard Self.plausible.contains(date), roundTrip >= .zero, roundTrip < .seconds(3600) else { return }
    let half = roundTrip / 2
    let new = Reading(
      booted: date.adding(.milliseconds(500) + half - boot), at: boot, margin: half.inMicroseconds + 1_000_000)
    // A slow answer says less than a quick one before it, unless they contradict each other.
    if let server, gap(server.booted, new.booted) <= server.margin(at: boot).saturatingAdding(new.margin),
      server.margin(at: boot) < new.margin
    {
      return
    }
    server = new
  }

  /// Notes by which times of the boot drives were dated: one of them may be that of the host's clock before it was set.
  public mutating func note(formerBoots times: [WallTime]) {
    for time in times where Self.plausible.contains(time) && former.count < Self.formerLimit {
      let known = former + [host?.booted, ruling?.booted].compactMap { $0 }
      if known.allSatisfy({ gap($0, time) >= Self.smallestStep }) { former.append(time) }
    }
  }

  /// Decides by the host's clock as it is now, and by all that was noted.
  /// - Parameters:
  ///   - wall: The host's wall clock; `nil` when it could not be read together with the boot-time clock.
  ///   - boot: The time since the boot.
  @discardableResult
  public mutating func judge(host wall: WallTime?, at boot: Duration) -> Ruling {
    if let wall { noteHost(wall.adding(.zero - boot), at: boot) }
    let new = Bench(self, at: boot).ruling
    ruling = new
    return new
  }

  /// Whether this can be what an earlier process of the same boot kept.
  public func isPossible(at boot: Duration) -> Bool {
    let moments = [host?.since, server?.at].compactMap { $0 } + receivers.values.flatMap(\.moments)
    let margins = [server?.margin].compactMap { $0 }
    return moments.allSatisfy { $0 >= .zero && $0 <= boot }
      && margins.allSatisfy { (0...3_600_000_000).contains($0) }
      && former.count <= Self.formerLimit && receivers.count <= Self.receiverLimit
  }

  /// Whether another process of this boot would judge the same by `other` as by this: else it is to be kept.
  public func isEquivalent(to other: WallClock) -> Bool {
    func isSame(_ left: WallTime?, _ right: WallTime?) -> Bool {
      guard let left, let right else { return left == nil && right == nil }
      return gap(left, right) < Self.smallestStep
    }
    let names = Set(receivers.keys).union(other.receivers.keys)
    return ruling?.booted == other.ruling?.booted && ruling?.source == other.ruling?.source
      && ruling?.isConfirmed == other.ruling?.isConfirmed && former == other.former
      && isSame(host?.booted, other.host?.booted) && host?.since == other.host?.since
      && isSame(server?.booted, other.server?.booted)
      && names.allSatisfy { isSame(receivers[$0]?.reading?.booted, other.receivers[$0]?.reading?.booted) }
  }

  private mutating func noteHost(_ booted: WallTime, at boot: Duration) {
    guard var track = host else {
      host = HostTrack(booted: booted, since: boot, first: booted)
      return
    }
    if gap(track.booted, booted) >= Self.smallestStep {
      former.removeAll { gap($0, booted) < Self.smallestStep || gap($0, track.booted) < Self.smallestStep }
      former.insert(track.booted, at: 0)
      former = Array(former.prefix(Self.formerLimit))
    }
    track.booted = booted
    if gap(track.first, booted) > HostTrack.sameWithin { (track.first, track.since) = (booted, boot) }
    host = track
  }
}

/// The host's clock.
struct HostTrack: Hashable, Sendable, Codable {
  /// A clock that moves by no more than this, as one that is slewed, is the same one.
  static let sameWithin: Int64 = 60_000_000
  /// The wall time of the boot by it, now.
  var booted: WallTime
  /// Since when it has been the same, since the boot.
  var since: Duration
  /// The wall time of the boot by it then.
  var first: WallTime
}

/// The absolute difference in microseconds; `Int64.max` where it is greater.
func gap(_ left: WallTime, _ right: WallTime) -> Int64 {
  Int64(clamping: left.microseconds.saturatingSubtracting(right.microseconds).magnitude)
}

extension WallTime {
  /// The moment `duration` later; the last or first one that can be told where that is too far away.
  public func adding(_ duration: Duration) -> WallTime { self + DriveTime(duration) }
}

extension WallClock.Ruling: CustomStringConvertible {
  /// One line for a log, e.g. `gnss rules, two clocks agree (gnss, server); host contradicts`.
  public var description: String {
    func names(_ sources: [WallClock.Source]) -> String { sources.map(\.rawValue).joined(separator: ", ") }
    let agreed = agreeing.count > 1 ? " (\(names(agreeing)))" : ""
    let against = contradicting.isEmpty ? "" : "; \(names(contradicting)) contradicts"
    return "\(source.rawValue) rules, \(reason.rawValue)\(agreed)\(against)"
  }
}

extension WallTime: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(microseconds)
  }
}
