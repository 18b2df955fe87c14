import Coverage
import Driving
import OrderedJSON
import Positioning
import Store
import Submission

/// The state of the service at one moment: for `status` as lines and as JSON, for the metrics, the live page and the service
/// manager.
struct ServiceStatus: Sendable {
  /// The raw values appear in `status --json`.
  enum State: String, Sendable {
    case recording
    case idle
    case stopping
  }

  var started: WallTime
  var state = State.idle
  /// Why it records or does not.
  var reason = ""
  /// `nil` before the clocks were read.
  var clock: ClockStatus?
  /// Whether some clock shows a possible time.
  var isClockSet: Bool { clock?.selection.isTrusted ?? true }
  var receiver = Receiver()
  /// The status of the running drive, by link.
  var links: [DriveStatus] = []
  /// The totals of drives since the start of the service, by link name; "" for the only link.
  var totals: [String: DriveTotals] = [:]
  /// The loop of speed tests; `nil` without one.
  var loop: LoopStatus?
  /// The unsent data.
  var waiting = UnsentData()
  /// Whether requests may leave.
  var sender: SenderStatus?
  /// The last pass that had anything to send; `nil` before the first one.
  var lastPass: EndedPass?
  var disk = Disk()

  /// The receiver, as far as it is known.
  struct Receiver: Sendable {
    var fix: Fix?
    /// The time since the last fix arrived.
    var fixAge: Duration?
    /// The paths of gpsd's receivers; `nil` before gpsd has listed them.
    var paths: [String]?
    /// `nil` before a receiver has reported any.
    var satellites: Satellites?
  }

  /// The disk of the state directory, and the data that it refused.
  struct Disk: Hashable, Sendable {
    /// Bytes that this user may still write; `nil` when the kernel does not report it.
    var freeBytes: Int64?
    /// The size of the state directory in bytes; `nil` where it was not measured, because that reads the whole directory.
    var stateBytes: Int64?
    /// Whether the store could be read; ``ServiceStatus/waiting`` is unknown otherwise.
    var isStoreReadable = true
    /// Fences that are in memory only.
    var unsavedFences = 0
    /// Why part of the drive is not on the disk.
    var trouble: String?

    /// With less than this, a drive fills the disk within minutes.
    private static let leastBytes: Int64 = 1 << 20

    var isFull: Bool { freeBytes.map { $0 < Self.leastBytes } ?? false }

    /// A line for an operator; `nil` when there is nothing to do.
    var line: String? {
      guard isFull || trouble != nil else { return nil }
      var parts = [trouble ?? "the disk of the state directory is full: delete other files until 1 MiB is free"]
      if unsavedFences > 0 { parts.append("\(counted(unsavedFences, "fence")) in memory only") }
      if let freeBytes { parts.append("\(freeBytes / 1024) KiB free") }
      return "disk: " + parts.joined(separator: "; ")
    }
  }

  /// The answer to `GET /status`, for scripts, the panel and the live page.
  var json: JSON {
    .object([
      "version": .string(Program.version),
      "started_at": .string(started.iso8601),
      "state": .string(state.rawValue),
      "reason": .string(reason),
      "clock_set": .bool(isClockSet),
      "clock": clock?.json,
      "disk": .object([
        "free_bytes": disk.freeBytes.map(JSON.integer), "full": .bool(disk.isFull),
        "unsaved_fences": .integer(Int64(disk.unsavedFences)), "trouble": disk.trouble.map(JSON.string),
      ]),
      "position": position,
      "satellites": receiver.satellites.map {
        .object(["used": .integer(Int64($0.used)), "seen": .integer(Int64($0.seen))])
      },
      "receivers": receiver.paths.map { .array($0.map(JSON.string)) },
      "drives": .array(links.map(Self.json)),
      "loop": loop?.json,
      "waiting": !disk.isStoreReadable
        ? nil
        : .object([
          "sessions": .integer(Int64(waiting.sessions)), "fences": .integer(Int64(waiting.fences)),
          "quarantined": .integer(Int64(waiting.quarantined)),
          "without_session": .integer(Int64(waiting.withoutSession)),
          "speed_tests": .integer(Int64(waiting.speedTests)),
        ]),
      "kept": disk.isStoreReadable ? .object(["sessions": .integer(Int64(waiting.kept))]) : nil,
      "sender": sender.map(Self.json),
      "queue": .array(queueLines.map(JSON.string)),
      "last_pass": lastPass.map {
        .object(["ended_at": .string($0.ended.iso8601), "result": .string($0.report.line)])
      },
    ])
  }

  /// The last fix; its age says whether it still holds.
  private var position: JSON? {
    receiver.fix.map { fix in
      .object([
        "latitude": fix.coordinate.map { .number($0.latitude) },
        "longitude": fix.coordinate.map { .number($0.longitude) },
        "accuracy_m": fix.accuracy.map(JSON.number),
        "speed_mps": fix.speed.map(JSON.number),
        "age_s": receiver.fixAge.map { .decimal(units: $0.inMilliseconds, places: 3) },
      ])
    }
  }

  private static func json(_ sender: SenderStatus) -> JSON {
    .object([
      "breaker": .string(sender.breaker.state.rawValue),
      "breaker_step": .integer(Int64(sender.breaker.step)),
      "refusals": .integer(Int64(sender.breaker.refusals)),
      "next_attempt_s": .decimal(units: sender.nextAttemptInMilliseconds, places: 3),
    ])
  }

  private static func json(_ drive: DriveStatus) -> JSON {
    .object([
      "link": drive.link.map(JSON.string),
      "elapsed_s": .integer(drive.elapsed.components.seconds),
      "fences": .integer(Int64(drive.fences)),
      "technology": drive.technology.map { .string($0.name) },
      "radio": drive.radio?.modem?.json,
      "radio_obstacle": drive.radio?.obstacle.map(JSON.string),
      "test_uuid": drive.testUUID.map(JSON.string),
      "target": drive.target.map { .string("\($0)") },
      "last_second": .object([
        "pings": .integer(Int64(drive.lastSecond.pings)), "pings_ok": .integer(Int64(drive.lastSecond.answered)),
        "avg_ping_ms": drive.lastSecond.meanMilliseconds.flatMap { JSON.rounded($0, places: 3) },
      ]),
      "position": .string(drive.position),
      "open_fence": drive.openFence.map(json),
      "warnings": .array(drive.warnings.map(JSON.string)),
    ])
  }

  private static func json(_ fence: Fence) -> JSON {
    func milliseconds(_ nanoseconds: Int64?) -> JSON? { nanoseconds.map { .decimal(units: $0, places: 6) } }
    return .object([
      "radius_m": .number(fence.radius),
      "pings": .integer(Int64(fence.pings)),
      "pings_ok": .integer(Int64(fence.pingsAnswered)),
      "pings_late": .integer(Int64(fence.figures.late)),
      "avg_ping_ms": milliseconds(fence.meanRTTNanoseconds),
      "p50_ping_ms": milliseconds(fence.figures.roundTrip?.median),
      "p95_ping_ms": milliseconds(fence.percentile95),
      "ipdv_ms": milliseconds(fence.figures.meanVariation),
    ])
  }

  /// Why and for how long nothing is sent; `nil` when sending is possible.
  private static func line(_ sender: SenderStatus) -> String? {
    let seconds = (sender.nextAttemptInMilliseconds + 999) / 1000
    if sender.breaker.state != .closed {
      return "circuit breaker \(sender.breaker.state.rawValue) (step \(sender.breaker.step)), next try in \(seconds) s"
    }
    return sender.hold.map { "\($0.reason), next try in \(seconds) s" }
  }

  var lines: [String] {
    var lines = ["\(state.rawValue): \(reason)"]
    lines += DriveStatus.lines(links)
    if let loop { lines.append(loop.line) }
    if let line = disk.line { lines.append(line) }
    if let clock { lines.append(clock.line) }
    return lines + queueLines
  }

  /// The waiting data, and why nothing is sent.
  private var queueLines: [String] {
    var lines = disk.isStoreReadable ? [] : ["the store cannot be read: what waits to be sent is unknown"]
    let isSent = disk.isStoreReadable && waiting.kept == 0 && links.allSatisfy { $0.target == nil }
    if isSent || waiting.fences + waiting.quarantined > 0 {
      lines.append(
        "waiting to be sent: \(counted(waiting.fences, "fence")) in \(counted(waiting.sessions, "session")); "
          + "\(counted(waiting.quarantined, "fence")) quarantined")
    }
    if waiting.withoutSession > 0 {
      let isOne = waiting.withoutSession == 1
      lines.append(
        "\(counted(waiting.withoutSession, "fence")) without a session \(isOne ? "waits until it is" : "wait until they are") old enough"
      )
    }
    if waiting.speedTests > 0 {
      lines.append("\(counted(waiting.speedTests, "speed test waits", "speed tests wait")) to be sent")
    }
    if let target = links.compactMap(\.target).first { lines.append("this drive is \(target.note)") }
    if waiting.kept > 0 { lines.append(keptWords(waiting.kept)) }
    if let sender, let line = Self.line(sender) { lines.append(line) }
    if let lastPass { lines.append("last pass (\(lastPass.ended.iso8601)): \(lastPass.report.line)") }
    return lines
  }
}

extension ServiceStatus {
  /// The state in words without any place, for the service manager, whose status every user of the host can read.
  var words: String {
    var parts = ["\(state.rawValue): \(reason)"]
    for link in links {
      let name = link.link.map { "\($0): " } ?? ""
      let technology = link.technology?.name ?? "no technology"
      parts.append("\(name)\(counted(link.fences, "fence")), \(technology)")
      parts += link.warnings.map { name + $0 }
    }
    if let line = disk.line { parts.append(line) }
    return parts.joined(separator: "; ")
  }
}
