/// Whether the modem behind ModemManager still answers, as a value: questions, signs of life and time in, a verdict out.
///
/// ModemManager 1.20 shows the last values of a mute modem for half a minute, until ten of its commands have timed out, and sends no signal
/// when a value stays the same. So ``ModemConversation`` asks a question that the modem itself must answer.
struct ModemPulse: Hashable, Sendable {
  /// A call that ModemManager passes on to the modem.
  enum Question: Hashable, Sendable, CaseIterable {
    /// `Modem.Time.GetNetworkTime`: short, and known to nearly every modem.
    case time
    /// `Modem.GetCellInfo`
    case cells
  }

  /// The effect of an error that answers a question.
  enum Failure: Hashable, Sendable {
    /// The modem answered, with an error of its own or with text that ModemManager does not understand.
    case sign
    /// The modem did not answer, or was not asked this time.
    case silence
    /// The modem is never asked: it lacks the call, or the caller has no right to it.
    case unusable
  }

  /// The time between two questions.
  static let interval: Duration = .seconds(1)
  /// The modem counts as mute this long after its last sign of life.
  static let limit: Duration = .milliseconds(1900)
  /// It has at least this long for an answer, also when it was asked late: after a suspend, or without processor time.
  static let answerLimit: Duration = .milliseconds(900)

  /// The object of the modem.
  let path: String
  private var lastSign: ContinuousClock.Instant
  /// When the first of the questions was asked that no sign of life has followed.
  private var asked: ContinuousClock.Instant?
  private var unusable: Set<Question> = []

  /// The modem is registered from `now` on, which counts as a sign of life.
  init(path: String, at now: ContinuousClock.Instant) {
    (self.path, lastSign) = (path, now)
  }

  /// The question to ask; `nil` when there is none, so that nobody can know whether the modem answers.
  var question: Question? { Question.allCases.first { !unusable.contains($0) } }

  /// When the modem counts as mute without another sign of life; `nil`: not before it is asked.
  var muteAt: ContinuousClock.Instant? {
    question == nil ? nil : asked.map { max(lastSign + Self.limit, $0 + Self.answerLimit) }
  }

  /// Whether the modem was asked, and has given no sign of life for ``limit``.
  func isMute(at now: ContinuousClock.Instant) -> Bool { muteAt.map { now >= $0 } ?? false }

  /// The modem answered, or reported another signal.
  mutating func sign(at now: ContinuousClock.Instant) { (lastSign, asked) = (now, nil) }

  /// An answer is awaited to a question that was asked at `instant`.
  mutating func awaits(since instant: ContinuousClock.Instant) { asked = asked ?? instant }

  /// An error answers a question.
  mutating func handle(_ failure: Failure, of question: Question, at now: ContinuousClock.Instant) {
    switch failure {
    case .sign: sign(at: now)
    case .silence: break
    case .unusable:
      unusable.insert(question)
      // The next question has its full time.
      sign(at: now)
    }
  }
}

extension ModemPulse.Failure {
  /// - Parameter name: The name of the D-Bus error (ModemManager-errors-types.h, 1.20).
  init(_ name: String) {
    let parts = name.split(separator: ".").map(String.init)
    switch parts.dropLast().last {
    // No answer within the time for a command, or a port that does not work.
    case "Serial": self = .silence
    case "Core": self = parts.last.flatMap { Self.core[$0] } ?? .sign
    // The bus, or D-Bus in the daemon: no right, no such method.
    case "Error": self = .unusable
    // Errors of GLib's input and output are no answer of the modem.
    default: self = name.contains("g_2dio_2derror") ? .silence : .sign
    }
  }

  /// Errors of ModemManager, libqmi and libmbim themselves. ModemManager's `Failed` is that of an answer which it cannot read.
  private static let core: [String: Self] = [
    "Unsupported": .unusable, "Unauthorized": .unusable,
    // Its only port for commands carries the data.
    "Connected": .unusable,
    "Timeout": .silence, "Cancelled": .silence, "Aborted": .silence, "WrongState": .silence, "InProgress": .silence,
    "Retry": .silence, "Throttled": .silence,
  ]
}

/// The purpose of an answer of ModemManager, or of the bus: it tells ``ModemConversation`` which of its calls is answered.
/// Associated values are the path of the modem's object.
enum ModemPurpose: Hashable, Sendable {
  /// The bus: subscribed to signals.
  case match
  /// The bus: whether ModemManager runs.
  case owner
  /// All objects of ModemManager with their properties.
  case objects
  /// Any answer shows that ModemManager does not hang.
  case liveness
  /// The time of the network: any answer of the modem shows that it does not hang (``ModemPulse``).
  case networkTime(String)
  /// The modem measures its signal from now on.
  case signalSetup(String)
  /// The modem reports its serving cell from now on.
  case locationSetup(String)
  /// The list of the cells that the modem hears.
  case cells(String)
  /// The properties of a SIM or a bearer, by its own path.
  case part(String)

  /// The object of the sentence in which the log reports a refusal.
  var subject: String {
    switch self {
    case .networkTime: "the modem answers"
    case .signalSetup: "the signal"
    case .locationSetup: "the cell"
    default: "its state"
    }
  }
}

/// Which calls were made, and which answers are awaited. A value.
struct ModemQuestions: Hashable, Sendable {
  /// When each call was last made, for the interval before it may be repeated.
  var asked: [ModemPurpose: ContinuousClock.Instant] = [:]
  /// The calls whose answers are awaited. A purpose has at most one.
  var pending: Set<ModemPurpose> = []

  /// Drops the calls for the properties of SIMs and bearers but `named`: each connection has a bearer of a new path.
  mutating func dropParts(but named: Set<String>) {
    asked = asked.filter { if case .part(let path) = $0.key { named.contains(path) } else { true } }
  }

  /// - Returns: Whether to call now: no answer to an earlier call is awaited, and that one is at least `interval` ago.
  mutating func begin(_ purpose: ModemPurpose, at now: ContinuousClock.Instant, every interval: Duration) -> Bool {
    guard !pending.contains(purpose), asked[purpose].map({ now >= $0 + interval }) ?? true else { return false }
    asked[purpose] = now
    pending.insert(purpose)
    return true
  }
}

typealias ModemCall = BusCall<ModemPurpose>
typealias ModemMessage = BusMessage<ModemPurpose>
#if canImport(CSystemd)
  typealias ModemBus = SystemBus<ModemPurpose>
#endif
