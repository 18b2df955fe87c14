/// Decides which messages the service manager gets, and when. A pure value: time comes in as an argument.
///
/// A sign of life is due only while everything that works makes progress: the service's own loop, which asks; the drive, by its
/// reports on each link; the sender, by its steps. A stall of any of them ends the signs of life, and the manager restarts the
/// service.
struct ManagerMessages: Hashable, Sendable {
  /// Time without suspend, as the manager's watchdog counts it.
  typealias Instant = SuspendingClock.Instant

  struct State: Hashable, Sendable {
    var isReady = false
    var isStopping = false
    /// For an operator, without places: every user of the host can read it.
    var words = ""
    /// How far the running drive is on each link, by the link's name; a number that moves at least each few seconds. Empty
    /// without one.
    var driveProgress: [String: Int64] = [:]
    /// Counts the steps of the sender; `nil` while it has nothing to do.
    var senderSteps: UInt64?
  }

  /// The counter of one part, and when it last moved.
  private struct Progress<Count: Hashable & Sendable>: Hashable, Sendable {
    var count: Count
    var moved: Instant
  }

  /// The words are sent at most this often.
  static let pause = Duration.seconds(5)

  /// Without a sign of life for this long, the manager restarts the service; `nil`: it does not watch.
  private let watchdog: Duration?
  /// How long the sender may be at one step.
  private let senderPatience: Duration
  /// Whether the manager has the message; `false` again during a reload.
  private var saidReady = false
  private var saidStopping = false
  private var words = ""
  private var wordsAt: Instant?
  /// When the last sign of life was sent.
  private var signAt: Instant?
  /// By link; empty without a drive.
  private var drive: [String: Progress<Int64>] = [:]
  private var sender: Progress<UInt64>?
  /// The part that makes no progress; `nil` when all do.
  private(set) var stall: String?

  init(watchdog: Duration?, senderPatience: Duration) {
    (self.watchdog, self.senderPatience) = (watchdog, senderPatience)
  }

  /// The manager's limit from `WATCHDOG_USEC`; `nil` when it does not watch this process.
  static func watchdog(environment: [String: String], process: Int32) -> Duration? {
    guard let text = environment["WATCHDOG_USEC"], let limit = Int64(text), limit > 0 else { return nil }
    if let watched = environment["WATCHDOG_PID"], watched != "\(process)" { return nil }
    return .microseconds(limit)
  }

  /// The assignments to send now, possibly none.
  mutating func next(_ state: State, at now: Instant) -> [String] {
    var messages: [String] = []
    if state.isReady, !saidReady {
      saidReady = true
      messages.append("READY=1")
    }
    if state.isStopping, !saidStopping {
      saidStopping = true
      messages.append("STOPPING=1")
    }
    let isDue = wordsAt.map { now - $0 >= Self.pause } ?? true
    if state.words != words, isDue || !messages.isEmpty {
      (words, wordsAt) = (state.words, now)
      messages.append("STATUS=" + words.split(whereSeparator: \.isNewline).joined(separator: " "))
    }
    watch(state, at: now)
    if let watchdog, state.isReady, stall == nil, signAt.map({ now - $0 >= watchdog / 4 }) ?? true {
      signAt = now
      messages.append("WATCHDOG=1")
    }
    return messages
  }

  /// The assignments at the begin of a reload; ``next(_:at:)`` says ready again.
  /// - Parameter microseconds: CLOCK_MONOTONIC
  mutating func reloading(at microseconds: UInt64) -> [String] {
    saidReady = false
    return ["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"]
  }

  /// The manager did not get the last assignments: the next ones say everything again.
  mutating func lost() { (saidReady, saidStopping, words, wordsAt, signAt) = (false, false, "", nil, nil) }

  /// Finds the part that makes no progress. A part that begins has the full time from then on.
  private mutating func watch(_ state: State, at now: Instant) {
    drive = state.driveProgress.reduce(into: [:]) { $0[$1.key] = Self.follow(drive[$1.key], $1.value, at: now) }
    sender = state.senderSteps.map { Self.follow(sender, $0, at: now) }
    stall = nil
    // A drive reports each second. Half of the limit, so that a stall and its message come before the restart.
    if let watchdog, let (link, _) = drive.first(where: { now - $0.value.moved >= watchdog / 2 }) {
      stall = link.isEmpty ? "the drive" : "the drive on link \(link)"
    }
    if let sender, now - sender.moved >= senderPatience { stall = "the sender" }
  }

  /// The progress with the new count; the time stays while the count does.
  private static func follow<Count: Hashable & Sendable>(_ progress: Progress<Count>?, _ count: Count, at now: Instant)
    -> Progress<Count>
  {
    if let progress, progress.count == count { return progress }
    return Progress(count: count, moved: now)
  }
}
