import Coverage
import NetworkPath
import Positioning

/// What an operator wants to know of a drive that goes on, on one link.
public struct DriveStatus: Hashable, Sendable {
  /// The link's name, where there are several.
  public var link: String?
  public var elapsed: Duration = .zero
  /// The last fix, and whether it is accurate enough for fences.
  public var fix: Fix?
  public var isAccurate = false
  public var fences = 0
  /// The fence that the drive is in, as it is so far.
  public var openFence: Fence?
  public var lastSecond = PingTally()
  public var technology: Technology?
  public var testUUID: String?
  /// The link that carries the pings; `nil` before it is known.
  public var network: PathReading?
  /// What was received from gpsd, and what of it was refused.
  public var positioning = PositioningCounters()
  /// Why something of the drive is not on the disk as it should be, and how many fences are in memory only.
  public var diskTrouble: String?
  public var unsavedFences = 0
  public var warnings: [String] = []

  /// One line, e.g. `00:12:31  48.20820 16.37380 ±4 m  17 fences  31.7 ms 0 % lost  4G/LTE`.
  public var line: String {
    "\(Self.clock(elapsed))  \(position)  \(linkLine)"
  }

  /// What differs between the links of a drive.
  private var linkLine: String {
    var parts = [counted(fences, "fence"), lastSecond.line]
    parts.append(technology?.name ?? "no technology")
    if !warnings.isEmpty { parts.append("! " + warnings.joined(separator: ", ")) }
    return parts.joined(separator: "  ")
  }

  /// One line for all links of a drive, e.g. `00:12:31  48.20820 16.37380 ±4 m  A: 17 fences ... | B: 17 fences ...`.
  public static func line(_ links: [DriveStatus]) -> String {
    guard let first = links.first, links.count > 1 else { return links.first?.line ?? "" }
    let each = links.map { "\($0.link ?? "-"): \($0.linkLine)" }.joined(separator: " | ")
    return "\(clock(first.elapsed))  \(first.position)  \(each)"
  }

  /// What to say while pings could be sent and none are, or are in vain.
  /// - Parameters:
  ///   - isMissing: There is no test to send pings on.
  ///   - isRefused: The ping server refused the last token, and has answered no ping since.
  static func warning(ofMissingTest isMissing: Bool, isRefused: Bool, on path: Path) -> String? {
    guard path != .wifi else { return nil }
    if isRefused { return "the ping server refuses the token" }
    return isMissing ? "waiting for a test" : nil
  }

  private var position: String {
    guard let fix, let place = fix.coordinate else { return "no fix" }
    let accuracy = fix.accuracy.map { "±\(Self.decimal($0, places: $0 < 10 ? 1 : 0)) m" } ?? "accuracy unknown"
    let note = isAccurate ? "" : " (too inaccurate)"
    return "\(Self.decimal(place.latitude, places: 5)) \(Self.decimal(place.longitude, places: 5)) \(accuracy)\(note)"
  }

  /// Hours, minutes and seconds: `00:12:31`.
  public static func clock(_ duration: Duration) -> String {
    let seconds = duration.components.seconds
    return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
      .joined(separator: ":")
  }

  /// `value` with so many places, in the same form in every locale.
  public static func decimal(_ value: Double, places: Int) -> String {
    value.formatted(
      .number.precision(.fractionLength(places)).grouping(.never).locale(.init(identifier: "en_US_POSIX")))
  }
}
