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

  /// Writes the record as one line of JSON Lines.
  func writeLine(to text: inout JSONWriter) {
    text.beginObject()
    writeTimes(to: &text)
    text.member("latitude", Self.degrees(fence.centre.latitude))
    text.member("longitude", Self.degrees(fence.centre.longitude))
    writeFigures(to: &text)
    text.endObject()
    text.raw("\n")
  }

  /// Writes all members but the position.
  func writeProperties(to text: inout JSONWriter) {
    writeTimes(to: &text)
    writeFigures(to: &text)
  }

  private func writeTimes(to text: inout JSONWriter) {
    switch origin {
    case .replay:
      text.member("entered", Self.seconds(fence.entered))
      text.member("exited", fence.exited.map(Self.seconds))
    case .store(let driveStarted, let session):
      text.member("session", .integer(session))
      text.member("entered_at", .string((driveStarted + fence.entered).iso8601))
      text.member("exited_at", fence.exited.map { .string((driveStarted + $0).iso8601) })
    }
  }

  private func writeFigures(to text: inout JSONWriter) {
    let technology = fence.technology ?? .none
    let number = technology.id
    text.member("link", link.map(JSON.string))
    text.member("radius_m", Self.rounded(fence.radius, 2))
    text.member("pings", .integer(Int64(fence.pings)))
    text.member("pings_ok", .integer(Int64(fence.pingsAnswered)))
    text.member("avg_ping_ms", fence.meanRTTNanoseconds.map(Self.milliseconds))
    text.member("technology", number == nil ? nil : .string(technology.name))
    text.member("technology_id", number.map { .integer(Int64($0)) })
    text.member("test_uuid", session.testUUID.map(JSON.string))
    text.member("offset_ms", session.anchor.map { .integer((fence.entered - $0).inMilliseconds) })
    text.member("duration_ms", fence.duration.map { .integer($0.inMilliseconds) })
    text.member("submittable", .bool(fence.isSubmittable))
    text.member("accuracy_m", fence.fix.accuracy.map { Self.rounded($0, 2) })
    text.member("altitude_m", fence.fix.altitude.map { Self.rounded($0, 2) })
    text.member("course_deg", fence.fix.course.map { Self.rounded($0 >= 359.95 ? 0 : $0, 1) })
    text.member("speed_mps", fence.fix.speed.map { Self.rounded($0, 2) })
    text.member("pings_lost", .integer(Int64(fence.pings - fence.pingsAnswered)))
    text.member("pings_late", .integer(Int64(fence.figures.late)))
    text.member("pings_duplicate", .integer(Int64(fence.figures.duplicates)))
    text.member("min_ping_ms", fence.figures.roundTrip.map { Self.milliseconds($0.minimum) })
    text.member("p50_ping_ms", fence.figures.roundTrip.map { Self.milliseconds($0.median) })
    text.member("p95_ping_ms", fence.figures.roundTrip.map { Self.milliseconds($0.percentile95) })
    text.member("max_ping_ms", fence.figures.roundTrip.map { Self.milliseconds($0.maximum) })
    text.member("ipdv_ms", fence.figures.meanVariation.map(Self.milliseconds))
    text.member("avg_ping_kernel_ms", fence.figures.kernelMean.map(Self.milliseconds))
    if let radio = fence.radio { RadioMembers.write(radio, to: &text) }
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
