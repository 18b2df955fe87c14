import Coverage
import DriveStore
import OrderedJSON

/// A fence for export, with all values of its line or feature.
///
/// Figures have only significant digits: positions and lengths are written to the centimetre, delays to the microsecond.
public struct FenceRecord: Hashable, Sendable {
  /// Unique within the drive for a replayed fence, within the store for a stored one.
  public let id: Int64
  /// The fence.
  public let fence: Fence
  /// The session to which it belongs.
  public let session: Session
  /// Where it comes from; it decides how times are written.
  public let origin: Origin
  /// The name of the measured link; `nil` in a drive over one link.
  public let link: String?

  /// The origin of a fence.
  public enum Origin: Hashable, Sendable {
    /// A replay: times are seconds since the start of the drive.
    case replay
    /// The store: times are wall times, and the session has an identifier.
    case store(driveStarted: WallTime, session: Int64)
  }

  /// A record with the given values.
  /// - Parameter id: By default the number of the fence within its drive.
  public init(id: Int64? = nil, fence: Fence, session: Session, origin: Origin, link: String? = nil) {
    self.id = id ?? Int64(fence.number)
    self.link = link
    self.fence = fence
    self.session = session
    self.origin = origin
  }

  /// The record of a stored fence.
  public init(_ stored: StoredFence) {
    self.init(
      id: stored.id, fence: stored.fence, session: stored.session.session,
      origin: .store(driveStarted: stored.session.driveStarted, session: stored.session.id),
      link: stored.session.link)
  }

  /// The record as one line of JSON Lines, without the newline.
  public var line: String { JSON.object(times + position + figures).text }

  /// All members but the position.
  var properties: [JSON.Member] { times + figures }

  private var times: [JSON.Member] {
    switch origin {
    case .replay:
      JSON.members(["entered": Self.seconds(fence.entered), "exited": fence.exited.map(Self.seconds)])
    case .store(let driveStarted, let session):
      JSON.members([
        "session": .integer(session),
        "entered_at": .string((driveStarted + fence.entered).iso8601),
        "exited_at": fence.exited.map { .string((driveStarted + $0).iso8601) },
      ])
    }
  }

  private var position: [JSON.Member] {
    JSON.members(["latitude": Self.degrees(fence.centre.latitude), "longitude": Self.degrees(fence.centre.longitude)])
  }

  private var figures: [JSON.Member] {
    let technology = fence.technology ?? .none
    return JSON.members([
      "link": link.map(JSON.string),
      "radius_m": Self.rounded(fence.radius, 2),
      "pings": .integer(Int64(fence.pings)),
      "pings_ok": .integer(Int64(fence.pingsAnswered)),
      "avg_ping_ms": fence.meanRTTNanoseconds.map(Self.milliseconds),
      "technology": technology.isKnown ? .string(technology.name) : nil,
      "technology_id": technology.id.map { .integer(Int64($0)) },
      "test_uuid": session.testUUID.map(JSON.string),
      "offset_ms": session.anchor.map { .integer((fence.entered - $0).inMilliseconds) },
      "duration_ms": fence.duration.map { .integer($0.inMilliseconds) },
      "submittable": .bool(fence.isSubmittable),
      "accuracy_m": fence.fix.accuracy.map { Self.rounded($0, 2) },
      "altitude_m": fence.fix.altitude.map { Self.rounded($0, 2) },
      "course_deg": fence.fix.course.map { Self.rounded($0, 1) },
      "speed_mps": fence.fix.speed.map { Self.rounded($0, 2) },
      "pings_lost": .integer(Int64(fence.pings - fence.pingsAnswered)),
      "pings_late": .integer(Int64(fence.figures.late)),
      "pings_duplicate": .integer(Int64(fence.figures.duplicates)),
      "min_ping_ms": fence.figures.roundTrip.map { Self.milliseconds($0.minimum) },
      "p50_ping_ms": fence.figures.roundTrip.map { Self.milliseconds($0.median) },
      "p95_ping_ms": fence.figures.roundTrip.map { Self.milliseconds($0.percentile95) },
      "max_ping_ms": fence.figures.roundTrip.map { Self.milliseconds($0.maximum) },
      "ipdv_ms": fence.figures.meanVariation.map(Self.milliseconds),
      "avg_ping_kernel_ms": fence.figures.kernelMean.map(Self.milliseconds),
    ])
  }

  /// Degrees with seven decimals, which are a centimetre.
  static func degrees(_ value: Double) -> JSON { rounded(value, 7) }

  private static func rounded(_ value: Double, _ places: Int) -> JSON {
    JSON.rounded(value, places: places) ?? .number(value)
  }

  private static func milliseconds(_ nanoseconds: Int64) -> JSON {
    let (half, rest) = (nanoseconds < 0 ? -500 : 500, nanoseconds % 1000)
    return .decimal(units: nanoseconds / 1000 + (rest + Int64(half)) / 1000, places: 3)
  }

  private static func seconds(_ time: DriveTime) -> JSON { .decimal(units: time.microseconds, places: 6) }
}
