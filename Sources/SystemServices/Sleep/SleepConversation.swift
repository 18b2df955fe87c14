import Coverage

/// The conversation with logind over D-Bus, as a value: messages and time in, calls out. It asks for a lock that delays sleep,
/// releases it when the host is about to sleep, and requests the next one after waking up.
///
/// Source: org.freedesktop.login1(5), `Inhibit` and `PrepareForSleep`.
struct SleepConversation {
  /// The purposes of calls.
  enum Purpose: Hashable, Sendable {
    /// A subscription to signals, and the request for a lock.
    case match, inhibit
  }

  typealias Call = BusCall<Purpose>
  typealias Message = BusMessage<Purpose>

  static let service = "org.freedesktop.login1"
  static let path = "/org/freedesktop/login1"
  static let manager = "org.freedesktop.login1.Manager"
  private static let bus = "org.freedesktop.DBus"

  /// How long logind may take for an answer before the log says that it does not answer.
  static let patience = Duration.seconds(10)

  /// The lock that delays sleep; dropping the last copy releases it.
  private var lock: BusDescriptor?
  /// Whether the host sleeps or is about to.
  private var isAsleep = false
  /// When the unanswered request for a lock was sent; `nil` without one.
  private var asked: ContinuousClock.Instant?
  private var news: [SleepNews] = []
  private var notes: [String] = []

  /// Whether logind waits for this process before the host sleeps.
  var delaysSleep: Bool { lock != nil }

  /// When ``tick(at:)`` has something to do.
  var nextDeadline: ContinuousClock.Instant? { asked.map { $0 + Self.patience } }

  /// Returns the reports since the last call.
  mutating func drainNews() -> [SleepNews] {
    defer { news = [] }
    return news
  }

  /// Returns the lines for the log since the last call.
  mutating func drainNotes() -> [String] {
    defer { notes = [] }
    return notes
  }

  // MARK: Inputs

  /// The connection to the bus is made.
  mutating func connected(at now: ContinuousClock.Instant) -> [Call] {
    let rules = [
      "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.service)'",
      "type='signal',sender='\(Self.service)',interface='\(Self.manager)',member='PrepareForSleep'",
    ]
    return rules.map {
      Call(
        purpose: .match, destination: Self.bus, path: "/org/freedesktop/DBus", interface: Self.bus, member: "AddMatch",
        arguments: [.string($0)])
    } + [inhibit(at: now)]
  }

  /// The connection to the bus has ended. The end of a sleep can no longer be reported.
  mutating func disconnected() {
    (lock, asked) = (nil, nil)
    wake()
  }

  /// A message came.
  mutating func handle(_ message: Message, at now: ContinuousClock.Instant) -> [Call] {
    switch message {
    case .answer(.match, _): return []
    case .answer(.inhibit, let values):
      asked = nil
      guard case .descriptor(let descriptor)? = values.first else {
        notes.append("logind's answer has no lock; sleep is not delayed")
        return []
      }
      // A lock that comes during the sleep would delay it for nothing: dropping it releases it.
      if !isAsleep { lock = descriptor }
      return []
    case .failure(let purpose, _, let text):
      if purpose == .inhibit { asked = nil }
      notes.append("logind cannot delay sleep for this program: \(text)")
      return []
    case .signal(_, Self.manager, "PrepareForSleep", let values):
      return values.first?.isTrue == true ? sleep() : wake() ? [inhibit(at: now)] : []
    case .signal(_, Self.bus, "NameOwnerChanged", let values):
      guard values.count == 3, values[0] == .string(Self.service) else { return [] }
      lock = nil
      wake()
      return values[2].text?.isEmpty == false ? [inhibit(at: now)] : []
    case .signal: return []
    }
  }

  /// Lets time pass.
  mutating func tick(at now: ContinuousClock.Instant) {
    guard let deadline = nextDeadline, now >= deadline else { return }
    asked = nil
    notes.append("logind does not answer; sleep is not delayed")
  }

  /// Hands the lock to the receiver of the news: logind waits until that has dropped it.
  private mutating func sleep() -> [Call] {
    guard !isAsleep else { return [] }
    isAsleep = true
    news.append(.sleeping(lock: lock))
    lock = nil
    return []
  }

  /// - Returns: Whether it was asleep.
  @discardableResult
  private mutating func wake() -> Bool {
    guard isAsleep else { return false }
    isAsleep = false
    news.append(.awake)
    return true
  }

  /// The request for the next lock; its words appear in `systemd-inhibit --list`.
  private mutating func inhibit(at now: ContinuousClock.Instant) -> Call {
    asked = now
    return Call(
      purpose: .inhibit, destination: Self.service, path: Self.path, interface: Self.manager, member: "Inhibit",
      arguments: [
        .string("sleep"), .string(Program.name), .string("Saving the drive"), .string("delay"),
      ])
  }
}

/// A report of logind about the host's sleep.
package enum SleepNews: Hashable, Sendable {
  /// The host sleeps as soon as the last owner releases the lock; without a lock, at once.
  case sleeping(lock: BusDescriptor?)
  /// The host is awake, or the connection to logind ended during the sleep.
  case awake
}
