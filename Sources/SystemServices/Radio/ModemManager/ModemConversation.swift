import Coverage

/// The conversation with ModemManager over D-Bus, as a value: messages and time in, calls out. ``reading`` is its result. It
/// follows the signals of changed properties. It asks only for the list of cells, because no signal reports a change of it,
/// and whether ModemManager and the modem behind it still answer. ``ModemManagerClient`` is its shell.
///
/// Sources: ModemManager's D-Bus reference (org.freedesktop.ModemManager1.Modem, .Signal, .Location, .Time), 1.20.
struct ModemConversation {
  static let service = "org.freedesktop.ModemManager1"
  /// Paths and interfaces: ModemManager's manager object, the bus, and the standard interfaces of D-Bus.
  private static let root = "/org/freedesktop/ModemManager1"
  private static let bus = "org.freedesktop.DBus"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let objects = "org.freedesktop.DBus.ObjectManager"

  /// ModemManager is asked whether it answers once in the interval, and counts as hung without an answer within the limit. So
  /// its last values stay in effect for at most the sum of both after it began to hang.
  static let livenessInterval: Duration = .seconds(1)
  static let livenessLimit: Duration = .milliseconds(900)
  /// The time between two requests for the list of cells, without a change of cell.
  static let cellsInterval: Duration = .seconds(5)
  /// The age at which a list of cells is dropped: the request for the next one can hang for minutes.
  static let cellsLifetime = cellsInterval * 2
  /// The time before a refused or ineffective request to configure the modem, or to list the objects, is repeated.
  static let setupInterval: Duration = .seconds(10)

  /// Absent: its name has no owner on the bus, or it is not known yet whether it has one. Hung: it does not answer in time.
  private enum State {
    case absent, present, hung
  }

  private let options: ModemManagerOptions
  private var state = State.absent { didSet { wasPresent = wasPresent || state == .present } }
  /// Whether ModemManager ran at any time on this connection.
  private var wasPresent = false
  private var objects = ModemObjects()
  /// Whether ``objects`` are all that ModemManager has.
  private var isListed = false
  private var questions = ModemQuestions()
  /// When to ask again whether ModemManager answers; while such an answer is awaited, the end of the wait.
  private var nextLiveness: ContinuousClock.Instant?
  /// The signs of life of the link's modem, while it is registered.
  private var pulse: ModemPulse?
  /// Whether that modem gives none: its values are of the past.
  private var isMute = false
  /// Lines for the log: refusals. ``drainNotes()`` empties it.
  private(set) var notes: [String] = []

  init(_ options: ModemManagerOptions) { self.options = options }

  // MARK: Results

  /// The modem of the link, among those that are there now.
  private var choice: ModemChoice { ModemChoice(among: objects.modems, interface: options.interface) }

  /// Whether ModemManager does not answer in time.
  var isHung: Bool { state == .hung }

  /// The present report: technology and values of the link's modem, or the obstacle because of which there is none.
  var reading: RadioReading {
    switch state {
    case .absent: return RadioReading(obstacle: options.isRequired || wasPresent ? "ModemManager is not running" : nil)
    case .hung: return RadioReading(obstacle: "ModemManager does not answer")
    case .present: break
    }
    switch choice {
    case .none(let reason): return RadioReading(obstacle: reason)
    case .modem(let path):
      guard let modem = objects.modems[path] else { return RadioReading() }
      if isMute { return RadioReading(obstacle: "the modem does not answer") }
      return RadioReading(
        technology: modem.technology, modem: objects.reading(of: modem, at: path), obstacle: modem.obstacle,
        equipment: objects.equipment(of: modem, options))
    }
  }

  /// Returns the lines for the log since the last call.
  mutating func drainNotes() -> [String] {
    defer { notes = [] }
    return notes
  }

  // MARK: Inputs

  /// The connection to the bus is made: subscribes to signals, then asks whether ModemManager runs. In this order no change
  /// between the two is missed.
  mutating func connected(at now: ContinuousClock.Instant) -> [ModemCall] {
    let rules = [
      "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.service)'",
      "type='signal',sender='\(Self.service)',interface='\(Self.objects)'",
      "type='signal',sender='\(Self.service)',interface='\(Self.properties)',member='PropertiesChanged'",
    ]
    let matches = rules.map { call(.match, Self.bus, "/org/freedesktop/DBus", Self.bus, "AddMatch", [.string($0)]) }
    return matches + [
      call(.owner, Self.bus, "/org/freedesktop/DBus", Self.bus, "NameHasOwner", [.string(Self.service)])
    ]
  }

  /// Handles a message; returns the calls to send.
  mutating func handle(_ message: ModemMessage, at now: ContinuousClock.Instant) -> [ModemCall] {
    switch message {
    case .answer(let purpose, let values):
      questions.pending.remove(purpose)
      return answered(purpose, values, at: now) + watch(at: now)
    case .failure(let purpose, let name, let text):
      questions.pending.remove(purpose)
      return failed(purpose, name, text, at: now) + watch(at: now)
    case .signal(let path, let interface, let member, let values):
      return signalled(path, interface, member, values, at: now) + watch(at: now)
    }
  }

  /// When ``tick(at:)`` has something to do.
  var nextDeadline: ContinuousClock.Instant? {
    guard state != .absent else { return nil }
    let endOfCells = objects.oldestCells.map { $0 + Self.cellsLifetime }
    return [nextLiveness, nextQuestion, isMute ? nil : watched?.muteAt, endOfCells].compactMap { $0 }.min()
  }

  /// Lets time pass: repeats the calls that are due, and finds out whether ModemManager hangs. Called at
  /// ``nextDeadline`` or at any other time.
  mutating func tick(at now: ContinuousClock.Instant) -> [ModemCall] {
    guard state != .absent else { return [] }
    objects.dropCells(until: now - Self.cellsLifetime)
    return watch(at: now) + askManager(at: now)
  }

  private mutating func askManager(at now: ContinuousClock.Instant) -> [ModemCall] {
    guard let due = nextLiveness, now >= due else { return [] }
    if questions.pending.contains(.liveness) {
      state = .hung
      nextLiveness = now + Self.livenessInterval
      return []
    }
    return askWhetherAlive(at: now) + list(at: now) + configure(at: now) + askForCells(at: now, atOnce: false)
      + askForParts(at: now)
  }

  // MARK: Answers

  /// Handles the answer to one of its calls.
  private mutating func answered(
    _ purpose: ModemCall.Purpose, _ values: [BusValue], at now: ContinuousClock.Instant
  ) -> [ModemCall] {
    switch purpose {
    case .match, .signalSetup, .locationSetup: return []
    case .owner: return values.first?.isTrue == true ? appeared(at: now) : []
    case .liveness:
      // Once a second, counted from the question; at once when the answer took longer than that.
      nextLiveness = questions.asked[.liveness].map { max($0 + Self.livenessInterval, now) }
      // After it hung, signals can be missing: list the objects again.
      guard state == .hung else { return [] }
      return appeared(at: now)
    case .objects:
      isListed = true
      objects.list(values.first)
      return configure(at: now) + askForCells(at: now, atOnce: true) + askForParts(at: now)
    case .part(let path):
      objects.setPart(values.first?.dictionary ?? [:], at: path)
      return []
    case .cells(let path):
      objects.setCells(values.first, at: path, arrived: now)
      signOfLife(of: path, at: now)
      return askForCells(at: now, atOnce: false)
    case .networkTime(let path):
      signOfLife(of: path, at: now)
      return []
    }
  }

  /// Handles the error that answers one of its calls.
  private mutating func failed(
    _ purpose: ModemCall.Purpose, _ name: String, _ text: String, at now: ContinuousClock.Instant
  ) -> [ModemCall] {
    // The bus answers for a service that has gone; its signal of that follows, or came before.
    guard !Self.namesOfAbsence.contains(name) else { return [] }
    switch purpose {
    case .liveness:
      // A service that answers with an error lives. If the bus refused the question, it may hang unnoticed.
      if name == Self.accessDenied { noteRefusal(name, text) }
      return answered(.liveness, [], at: now)
    case .networkTime(let path):
      let failure = ModemPulse.Failure(name)
      if name == Self.accessDenied || name.hasSuffix("Core.Unauthorized") {
        notes.append("ModemManager refuses to ask whether \(purpose.subject): \(text) (\(name))")
      }
      noteFailure(failure, of: .time, at: path, now)
    case .cells(let path):
      noteFailure(ModemPulse.Failure(name), of: .cells, at: path, now)
      objects.dropCells(of: path)
      let isRefused = name == Self.accessDenied
      if isRefused { notes.append("ModemManager refuses to report the list of cells: \(text) (\(name))") }
      // The bus logs each refusal: the question is not repeated.
      if isRefused || name.hasSuffix("Core.Unsupported") { objects.withoutCells.insert(path) }
    case .signalSetup, .locationSetup:
      notes.append("ModemManager refuses to report \(purpose.subject): \(text) (\(name))")
    // Known without values: a part that has gone, or that the bus refuses, is not asked for again.
    case .part(let path): objects.setPart([:], at: path)
    case .match, .owner, .objects: noteRefusal(name, text)
    }
    return []
  }

  private mutating func noteRefusal(_ name: String, _ text: String) {
    notes.append("the system bus refuses a request: \(text) (\(name))")
  }

  private static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"

  /// Errors that the bus itself sends when the owner of the name has gone.
  private static let namesOfAbsence: Set = [
    "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.Disconnected",
  ]

  // MARK: Signals

  /// Handles a signal: of the owner of the name, of objects that come and go, of changed properties.
  private mutating func signalled(
    _ path: String, _ interface: String, _ member: String, _ values: [BusValue], at now: ContinuousClock.Instant
  ) -> [ModemCall] {
    switch (interface, member) {
    case (Self.bus, "NameOwnerChanged"):
      guard values.count == 3, values[0].text == Self.service else { return [] }
      vanished()
      return values[2].text?.isEmpty == false ? appeared(at: now) : []
    case (Self.objects, "InterfacesAdded"):
      guard values.count == 2, let path = values[0].text else { return [] }
      objects.add(values[1], at: path)
      return configure(at: now) + askForCells(at: now, atOnce: true) + askForParts(at: now)
    case (Self.objects, "InterfacesRemoved"):
      guard values.count == 2, let path = values[0].text else { return [] }
      objects.remove(values[1].list.compactMap(\.text), at: path)
      return []
    case (Self.properties, "PropertiesChanged"):
      let before = reading
      guard values.count >= 2, let name = values[0].text, objects.change(name, values[1].dictionary, at: path) else {
        return []
      }
      // ModemManager changes others by itself, such as the age of the signal's quality.
      if name == "\(ModemObject.prefix).Signal" { signOfLife(of: path, at: now) }
      // Another technology or cell: the list is of the old one.
      let moves =
        reading.technology != before.technology
        || objects.modems[path]?.cell != nil && reading.modem?.cell != before.modem?.cell
      if moves { objects.dropCells(of: path) }
      return configure(at: now) + askForCells(at: now, atOnce: moves) + askForParts(at: now)
    default: return []
    }
  }

  /// ModemManager runs, or answers again.
  private mutating func appeared(at now: ContinuousClock.Instant) -> [ModemCall] {
    state = .present
    isListed = false
    questions.asked = [:]
    pulse?.sign(at: now)
    return list(at: now) + askWhetherAlive(at: now)
  }

  /// ModemManager has gone. Answers that are still awaited will not come.
  private mutating func vanished() {
    state = .absent
    objects = ModemObjects()
    (nextLiveness, isListed) = (nil, false)
    questions.pending = []
    (pulse, isMute) = (nil, false)
  }

  // MARK: Calls

  private mutating func askWhetherAlive(at now: ContinuousClock.Instant) -> [ModemCall] {
    nextLiveness = now + Self.livenessLimit
    // A property, because the bus lets everybody read those; Debian's rules leave org.freedesktop.DBus.Peer to root.
    return ask(
      call(.liveness, Self.service, Self.root, Self.properties, "Get", [.string(Self.service), .string("Version")]),
      at: now, every: .zero)
  }

  // MARK: The modem's signs of life

  private mutating func signOfLife(of path: String, at now: ContinuousClock.Instant) {
    if pulse?.path == path { pulse?.sign(at: now) }
  }

  private mutating func noteFailure(
    _ failure: ModemPulse.Failure, of question: ModemPulse.Question, at path: String, _ now: ContinuousClock.Instant
  ) {
    if pulse?.path == path { pulse?.handle(failure, of: question, at: now) }
  }

  /// The call that asks the modem for a sign of life; `nil` when there is none.
  private var sign: ModemCall? {
    guard let watched, let question = watched.question else { return nil }
    let path = watched.path
    return switch question {
    case .time: call(.networkTime(path), Self.service, path, "\(ModemObject.prefix).Time", "GetNetworkTime")
    case .cells: call(.cells(path), Self.service, path, ModemObject.prefix, "GetCellInfo")
    }
  }

  /// The pulse of the link's modem, if it is registered: else it has no technology anyway.
  private var watched: ModemPulse? {
    guard state == .present, let pulse, objects.modems[pulse.path]?.isRegistered == true else { return nil }
    return choice == .modem(pulse.path) ? pulse : nil
  }

  /// When the modem is to be asked again; `nil` while an answer is awaited.
  private var nextQuestion: ContinuousClock.Instant? {
    guard let purpose = sign?.purpose, !questions.pending.contains(purpose) else { return nil }
    return questions.asked[purpose].map { $0 + ModemPulse.interval }
  }

  /// Asks the link's modem for a sign of life while it is registered, and finds out whether it is mute.
  private mutating func watch(at now: ContinuousClock.Instant) -> [ModemCall] {
    if case .modem(let path) = choice, pulse?.path != path { pulse = ModemPulse(path: path, at: now) }
    // Until it is registered again, and ModemManager answers, nobody asks it.
    if watched == nil { pulse?.sign(at: now) }
    let sign = sign
    let calls = sign.map { ask($0, at: now, every: ModemPulse.interval) } ?? []
    // Asked first: when time has passed without a question, such as in a suspend, the modem is not to blame.
    if let sign, questions.pending.contains(sign.purpose) { pulse?.awaits(since: questions.asked[sign.purpose] ?? now) }
    isMute = watched?.isMute(at: now) ?? false
    return calls
  }

  /// Asks for all objects, unless they are listed.
  private mutating func list(at now: ContinuousClock.Instant) -> [ModemCall] {
    guard !isListed else { return [] }
    return ask(
      call(.objects, Self.service, Self.root, Self.objects, "GetManagedObjects"), at: now, every: Self.setupInterval)
  }

  /// Has the modem report its signal each second (`Signal.Setup`, in seconds), and its cell by signals (`Location.Setup`):
  /// without this, both stay empty. Other sources of location stay enabled. Each is requested until the properties show that
  /// it is in effect.
  private mutating func configure(at now: ContinuousClock.Instant) -> [ModemCall] {
    guard options.mayConfigure, case .modem(let path) = choice, let modem = objects.modems[path], modem.isRegistered
    else {
      return []
    }
    var calls: [ModemCall] = []
    if modem.property("Rate", of: "Signal")?.number == 0 {
      calls += ask(
        call(
          .signalSetup(path), Self.service, path, "\(ModemObject.prefix).Signal", "Setup", [.unsigned(1)]),
        at: now, every: Self.setupInterval)
    }
    let enabled = modem.property("Enabled", of: "Location")?.number.flatMap(UInt32.init(exactly:))
    // Bit 0 is MM_MODEM_LOCATION_SOURCE_3GPP_LAC_CI.
    if let enabled, enabled & 1 == 0 || modem.property("SignalsLocation", of: "Location")?.isTrue == false {
      calls += ask(
        call(
          .locationSetup(path), Self.service, path, "\(ModemObject.prefix).Location", "Setup",
          [.unsigned(enabled | 1), .bool(true)]), at: now, every: Self.setupInterval)
    }
    return calls
  }

  /// Asks for the list of cells of the link's modem, if it is registered and has such a list; soon when the last one is stale.
  /// - Parameter atOnce: Whether to ask before ``cellsInterval`` is over.
  private mutating func askForCells(at now: ContinuousClock.Instant, atOnce: Bool) -> [ModemCall] {
    guard case .modem(let path) = choice, objects.modems[path]?.isRegistered == true,
      !objects.withoutCells.contains(path)
    else { return [] }
    let interval = objects.areCellsStale(of: path) ? Self.livenessInterval : Self.cellsInterval
    return ask(
      call(.cells(path), Self.service, path, ModemObject.prefix, "GetCellInfo"), at: now,
      every: atOnce ? .zero : interval)
  }

  /// Asks for the properties of the SIM and the bearers of the link's modem: an object of the manager only names them.
  private mutating func askForParts(at now: ContinuousClock.Instant) -> [ModemCall] {
    questions.dropParts(but: objects.namedParts)
    guard case .modem(let path) = choice else { return [] }
    return objects.unknownParts(of: path).flatMap { part in
      let arguments = [ModemCall.Argument.string(part.interface)]
      return ask(
        call(.part(part.path), Self.service, part.path, Self.properties, "GetAll", arguments), at: now,
        every: Self.setupInterval)
    }
  }

  /// The call, if no answer to an earlier one is awaited, and the last one is at least `interval` ago.
  private mutating func ask(_ call: ModemCall, at now: ContinuousClock.Instant, every interval: Duration) -> [ModemCall]
  {
    questions.begin(call.purpose, at: now, every: interval) ? [call] : []
  }

  private func call(
    _ purpose: ModemCall.Purpose, _ destination: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: [ModemCall.Argument] = []
  ) -> ModemCall {
    ModemCall(
      purpose: purpose, destination: destination, path: path, interface: interface, member: member,
      arguments: arguments)
  }
}
