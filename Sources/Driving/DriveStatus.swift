import Coverage
import Networking
import Pinging
import Positioning

/// The state of a running drive on one link, for the operator.
public struct DriveStatus: Hashable, Sendable {
  /// The link's name; `nil` when there is one link only.
  public var link: String?
  /// Time since the start of the drive.
  public var elapsed: Duration = .zero
  /// Whether the drive on this link has ended, while that on another link goes on.
  public var hasEnded = false
  /// The last fix.
  public var fix: Fix?
  /// Whether the last fix is accurate enough for fences.
  public var isAccurate = false
  /// Fences so far, including the open one.
  public var fences = 0
  /// The present fence, with its figures so far.
  public var openFence: Fence?
  /// The pings of the last second.
  public var lastSecond = PingTally()
  /// What the drive has counted from its beginning.
  public var totals = DriveTotals()
  /// The modem's last report; `nil` before the first.
  public var radio: RadioReading?
  /// The radio technology; `nil` when it is unknown.
  public var technology: Technology?
  /// The test that pings are sent on.
  public var testUUID: String?
  /// The user's own target of the pings, whose fences are kept here; `nil`: the control server's.
  public var target: DriveTarget?
  /// The link that carries the pings; `nil` before it is known.
  var network: PathReading?
  /// Counts of what gpsd sent, and of refused positions by reason.
  public var positioning = PositioningCounters()
  /// Why part of the drive is not on the disk; `nil` when all of it is.
  public var diskTrouble: String?
  /// Fences that are in memory only.
  public var unsavedFences = 0
  /// Reasons why the drive does not measure at present.
  public var warnings: [String] = []

  /// The warning while every clock shows an impossible time.
  static let clockNotSet = "the clock is not set, not measuring"
  /// The warning while pings wait for the address of the ping server's name, or for a NAT64 prefix.
  static let addressUnknown = "the ping server's address is not known yet"
  /// The warning while no test is in use.
  static let testAwaited = "waiting for a test"
  /// The same after a test that ended by its age.
  static let testEnded = "the test has ended, and the control server has not granted another one"
  /// The warning while the ping server refuses the token (RE01).
  static let tokenRefused = "the ping server refuses the test's token"
  /// The same from the user's own target, which knows the secret: else it would not answer.
  static let targetRefuses =
    "the target refuses the token (RE01): behind NAT it sees another address; start it with --any-address"
  /// The warning while every ping of the drive has been lost: a server without the token's secret is as silent as a dead zone.
  static func noAnswer(from target: DriveTarget?) -> String {
    "no ping was answered yet: \(Program.name) doctor says whether \(target == nil ? "the ping server" : "the target") answers"
  }
  /// The warning while answers come from another address than the pinged one.
  static func answersElsewhere(_ address: PingAddress) -> String {
    "the ping server answers from another address, \(address): such answers do not count"
  }

  /// The beginning of the warning that there is no position; its reason follows.
  public static let waitingForGPS = "waiting for GPS"

  /// One line, e.g. `00:12:31  48.20820 16.37380 ±4 m  17 fences  31.7 ms 0 % lost  4G/LTE`.
  public var line: String {
    "\(Self.clock(elapsed))  \(position)  \(linkLine)"
  }

  /// The part of the line that differs between the links of a drive.
  private var linkLine: String {
    warnings.isEmpty ? figures : "\(figures)  ! \(warnings.joined(separator: ", "))"
  }

  private var figures: String {
    ([counted(fences, "fence"), lastSecond.line, technology?.name ?? "no technology"]
      + (target == nil ? [] : ["not submitted"])).joined(separator: "  ")
  }

  /// A line of figures, and one for each cause because of which some are missing, with the name of its link if there are several.
  public static func lines(_ links: [DriveStatus]) -> [String] {
    guard !links.isEmpty else { return [] }
    let figures = links.map { link in
      var link = link
      link.warnings = []
      return link
    }
    return [line(figures)]
      + links.flatMap { link in
        link.warnings.map { "! \(links.count > 1 ? "\(link.link ?? "-"): " : "")\($0)" }
      }
  }

  /// One line for all links of a drive, e.g. `00:12:31  48.20820 16.37380 ±4 m  A: 17 fences ... | B: 17 fences ...`.
  public static func line(_ links: [DriveStatus]) -> String {
    guard let first = links.first, links.count > 1 else { return links.first?.line ?? "" }
    let each = links.map { "\($0.link ?? "-"): \($0.linkLine)" }.joined(separator: " | ")
    return "\(clock(first.elapsed))  \(first.position)  \(each)"
  }

  /// The warning while no ping is sent or answered although the path allows pings.
  /// - Parameters:
  ///   - isMissing: Whether there is no test to send pings on.
  ///   - isRefused: Whether the ping server refused the last token, and has answered no ping since.
  ///   - path: The kind of link.
  ///   - hasTarget: Whether the pings go to the user's own target.
  static func warning(
    ofMissingTest isMissing: Bool, isRefused: Bool, on path: Path, hasTarget: Bool = false
  ) -> String? {
    guard path != .wifi else { return nil }
    if isRefused { return hasTarget ? targetRefuses : tokenRefused }
    return isMissing ? hasTarget ? "waiting for the target's address" : testAwaited : nil
  }

  /// The position in words, e.g. `48.20820 16.37380 ±4 m`.
  public var position: String {
    guard let fix, let place = fix.coordinate else { return "no fix" }
    let accuracy = fix.accuracy.map { "±\(DecimalText.of($0, places: $0 < 10 ? 1 : 0)) m" } ?? "accuracy unknown"
    let note = isAccurate ? "" : " (too inaccurate)"
    return
      "\(DecimalText.of(place.latitude, places: 5)) \(DecimalText.of(place.longitude, places: 5)) \(accuracy)\(note)"
  }

  /// Hours, minutes and seconds: `00:12:31`.
  public static func clock(_ duration: Duration) -> String {
    let seconds = duration.components.seconds
    return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
      .joined(separator: ":")
  }
}
