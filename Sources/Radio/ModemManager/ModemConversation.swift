import Coverage

/// The conversation with ModemManager over D-Bus, as a value: messages and time in, calls out. It follows the signals of changed
/// properties; it asks only for the list of cells, which no signal tells, and whether ModemManager still answers.
///
/// Sources: ModemManager's D-Bus reference (org.freedesktop.ModemManager1.Modem, .Signal, .Location), 1.20.
struct ModemConversation {
  static let service = "org.freedesktop.ModemManager1"
  private static let root = "/org/freedesktop/ModemManager1"
  private static let bus = "org.freedesktop.DBus"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let objects = "org.freedesktop.DBus.ObjectManager"

  /// A hung ModemManager is noticed within the sum of both: its last values are not true for longer.
  static let livenessInterval: Duration = .seconds(1)
  static let livenessLimit: Duration = .milliseconds(900)
  static let cellsInterval: Duration = .seconds(5)
  static let setupInterval: Duration = .seconds(10)

  /// What ModemManager is doing.
  private enum State {
    case absent, present, hung
  }

  private let interface: String?
  private let isRequired: Bool
  private let mayConfigure: Bool
  private var state = State.absent { didSet { wasPresent = wasPresent || state == .present } }
  private var wasPresent = false
  private var modems: [String: ModemObject] = [:]
  /// Whether ``modems`` are all that ModemManager has.
  private var isListed = false
  private var cells: [String: CellList] = [:]
  private var withoutCells: Set<String> = []
  private var asked: [BusCall.Purpose: ContinuousClock.Instant] = [:]
  private var pending: Set<BusCall.Purpose> = []
  private var nextLiveness: ContinuousClock.Instant?
  /// Lines for the log; the caller takes them.
  private(set) var notes: [String] = []

  /// - Parameters:
  ///   - interface: The interface of the measured link.
  ///   - isRequired: Whether it is an obstacle that there never was a ModemManager. One that ended always is.
  ///   - mayConfigure: Whether to configure the modem to report its signal and its cell.
  init(interface: String?, isRequired: Bool = true, mayConfigure: Bool = true) {
    (self.interface, self.isRequired, self.mayConfigure) = (interface, isRequired, mayConfigure)
  }

  // MARK: Results

  private var choice: ModemChoice { ModemChoice(among: modems, interface: interface) }

  /// The modem's present report.
  var reading: RadioReading {
    switch state {
    case .absent: return RadioReading(obstacle: isRequired || wasPresent ? "ModemManager is not running" : nil)
    case .hung: return RadioReading(obstacle: "ModemManager does not answer")
    case .present: break
    }
    switch choice {
    case .none(let reason): return RadioReading(obstacle: reason)
    case .modem(let path):
      guard let modem = modems[path] else { return RadioReading() }
      return RadioReading(technology: modem.technology, modem: values(of: modem, at: path), obstacle: modem.obstacle)
    }
  }

  private func values(of modem: ModemObject, at path: String) -> ModemReading {
    var reading = ModemReading()
    reading.mask = modem.mask
    reading.registration = modem.registration
    guard modem.isRegistered else { return reading }
    reading.operatorCode = modem.property("OperatorCode", of: "Modem3gpp")?.name
    reading.operatorName = modem.property("OperatorName", of: "Modem3gpp")?.name
    reading.signal = modem.signal
    let list = cells[path]
    reading.cell = Self.joined(modem.cell, list?.serving)
    reading.neighbours = list?.others ?? []
    return reading
  }

  /// `Location` names the current cell. The list of cells adds its channel, if both mean the same cell.
  private static func joined(_ cell: RadioCell?, _ listed: RadioCell?) -> RadioCell? {
    guard var cell else { return listed }
    guard let listed, cell.canBe(listed) else { return cell }
    cell.identity = cell.identity ?? listed.identity
    cell.area = cell.area ?? listed.area
    (cell.physical, cell.channel, cell.bandwidth) = (listed.physical, listed.channel, listed.bandwidth)
    return cell
  }

  /// Returns the lines for the log since the last call.
  mutating func drainNotes() -> [String] {
    defer { notes = [] }
    return notes
  }

  // MARK: Inputs

  /// The connection to the bus is made.
  mutating func connected(at now: ContinuousClock.Instant) -> [BusCall] {
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

  /// A message came.
  mutating func handle(_ message: BusMessage, at now: ContinuousClock.Instant) -> [BusCall] {
    switch message {
    case .answer(let purpose, let values):
      pending.remove(purpose)
      return answered(purpose, values, at: now)
    case .failure(let purpose, let name, let text):
      pending.remove(purpose)
      return failed(purpose, name, text, at: now)
    case .signal(let path, let interface, let member, let values):
      return signalled(path, interface, member, values, at: now)
    }
  }

  /// When ``tick(at:)`` has something to do.
  var nextDeadline: ContinuousClock.Instant? { state == .absent ? nil : nextLiveness }

  /// Lets time pass.
  mutating func tick(at now: ContinuousClock.Instant) -> [BusCall] {
    guard state != .absent, let due = nextLiveness, now >= due else { return [] }
    if pending.contains(.liveness) {
      state = .hung
      nextLiveness = now + Self.livenessInterval
      return []
    }
    return askWhetherAlive(at: now) + list(at: now) + configure(at: now) + askForCells(at: now, atOnce: false)
  }

  // MARK: Answers

  private mutating func answered(
    _ purpose: BusCall.Purpose, _ values: [BusValue], at now: ContinuousClock.Instant
  ) -> [BusCall] {
    switch purpose {
    case .match, .signalSetup, .locationSetup: return []
    case .owner: return values.first?.isTrue == true ? appeared(at: now) : []
    case .liveness:
      nextLiveness = asked[.liveness].map { max($0 + Self.livenessInterval, now) }
      guard state == .hung else { return [] }
      return appeared(at: now)
    case .objects:
      isListed = true
      modems = (values.first?.dictionary ?? [:]).mapValues(ModemObject.init).filter { $0.value.isModem }
      return configure(at: now) + askForCells(at: now, atOnce: true)
    case .cells(let path):
      // An answer can come after its modem has gone.
      if modems[path] != nil { cells[path] = values.first.map(CellList.init) }
      return []
    }
  }

  private mutating func failed(
    _ purpose: BusCall.Purpose, _ name: String, _ text: String, at now: ContinuousClock.Instant
  ) -> [BusCall] {
    // The bus answers for a service that has gone; its signal of that follows, or came before.
    guard !Self.namesOfAbsence.contains(name) else { return [] }
    switch purpose {
    case .liveness:
      // A service that answers with an error lives. If the bus refused the question, it may hang unnoticed.
      if name == Self.accessDenied { noteRefusal(name, text) }
      return answered(.liveness, [], at: now)
    case .cells(let path):
      cells[path] = nil
      let isRefused = name == Self.accessDenied
      if isRefused { notes.append("ModemManager refuses to report the list of cells: \(text) (\(name))") }
      // The bus logs each refusal: the question is not repeated.
      if isRefused || name.hasSuffix("Core.Unsupported") { withoutCells.insert(path) }
    case .signalSetup, .locationSetup:
      notes.append("ModemManager refuses to report \(purpose.subject): \(text) (\(name))")
    case .match, .owner, .objects: noteRefusal(name, text)
    }
    return []
  }

  private mutating func noteRefusal(_ name: String, _ text: String) {
    notes.append("the system bus refuses a request: \(text) (\(name))")
  }

  private static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"

  private static let namesOfAbsence: Set = [
    "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.Disconnected",
  ]

  // MARK: Signals

  private mutating func signalled(
    _ path: String, _ interface: String, _ member: String, _ values: [BusValue], at now: ContinuousClock.Instant
  ) -> [BusCall] {
    switch (interface, member) {
    case (Self.bus, "NameOwnerChanged"):
      guard values.count == 3, values[0].text == Self.service else { return [] }
      vanished()
      return values[2].text?.isEmpty == false ? appeared(at: now) : []
    case (Self.objects, "InterfacesAdded"):
      guard values.count == 2, let path = values[0].text else { return [] }
      if modems[path] != nil { modems[path]?.add(values[1]) } else { modems[path] = ModemObject(values[1]) }
      if modems[path]?.isModem == false { modems[path] = nil }
      return configure(at: now) + askForCells(at: now, atOnce: true)
    case (Self.objects, "InterfacesRemoved"):
      guard values.count == 2, let path = values[0].text else { return [] }
      if modems[path]?.remove(values[1].list.compactMap(\.text)) == false { forget(path) }
      return []
    case (Self.properties, "PropertiesChanged"):
      guard values.count >= 2, let name = values[0].text, modems[path] != nil else { return [] }
      let before = reading
      modems[path]?.change(name, values[1].dictionary)
      let moves = reading.technology != before.technology || modems[path]?.cell != nil && reading.cell != before.cell
      if moves { cells[path] = nil }
      return configure(at: now) + askForCells(at: now, atOnce: moves)
    default: return []
    }
  }

  private mutating func appeared(at now: ContinuousClock.Instant) -> [BusCall] {
    state = .present
    (isListed, asked) = (false, [:])
    return list(at: now) + askWhetherAlive(at: now)
  }

  private mutating func vanished() {
    state = .absent
    (modems, cells, withoutCells, pending, nextLiveness, isListed) = ([:], [:], [], [], nil, false)
  }

  private mutating func forget(_ path: String) {
    modems[path] = nil
    cells[path] = nil
    withoutCells.remove(path)
  }

  // MARK: Calls

  private mutating func askWhetherAlive(at now: ContinuousClock.Instant) -> [BusCall] {
    nextLiveness = now + Self.livenessLimit
    // A property, because the bus lets everybody read those; Debian's rules leave org.freedesktop.DBus.Peer to root.
    return ask(
      call(.liveness, Self.service, Self.root, Self.properties, "Get", [.string(Self.service), .string("Version")]),
      at: now, every: .zero)
  }

  private mutating func list(at now: ContinuousClock.Instant) -> [BusCall] {
    guard !isListed else { return [] }
    return ask(
      call(.objects, Self.service, Self.root, Self.objects, "GetManagedObjects"), at: now, every: Self.setupInterval)
  }

  /// Has the modem report its signal each second, and its cell: without this, both stay empty.
  private mutating func configure(at now: ContinuousClock.Instant) -> [BusCall] {
    guard mayConfigure, case .modem(let path) = choice, let modem = modems[path], modem.isRegistered else { return [] }
    var calls: [BusCall] = []
    if modem.property("Rate", of: "Signal")?.number == 0 {
      calls += ask(
        call(
          .signalSetup(path), Self.service, path, "\(ModemObject.prefix).Signal", "Setup", [.unsigned(1)]),
        at: now, every: Self.setupInterval)
    }
    let enabled = modem.property("Enabled", of: "Location")?.number.flatMap(UInt32.init(exactly:))
    if let enabled, enabled & 1 == 0 || modem.property("SignalsLocation", of: "Location")?.isTrue == false {
      calls += ask(
        call(
          .locationSetup(path), Self.service, path, "\(ModemObject.prefix).Location", "Setup",
          [.unsigned(enabled | 1), .bool(true)]), at: now, every: Self.setupInterval)
    }
    return calls
  }

  private mutating func askForCells(at now: ContinuousClock.Instant, atOnce: Bool) -> [BusCall] {
    guard case .modem(let path) = choice, modems[path]?.isRegistered == true, !withoutCells.contains(path) else {
      return []
    }
    return ask(
      call(.cells(path), Self.service, path, ModemObject.prefix, "GetCellInfo"), at: now,
      every: atOnce ? .zero : Self.cellsInterval)
  }

  /// The call, unless its answer is awaited or the last one was too short a time ago.
  private mutating func ask(_ call: BusCall, at now: ContinuousClock.Instant, every interval: Duration) -> [BusCall] {
    guard !pending.contains(call.purpose), asked[call.purpose].map({ now >= $0 + interval }) ?? true else { return [] }
    asked[call.purpose] = now
    pending.insert(call.purpose)
    return [call]
  }

  private func call(
    _ purpose: BusCall.Purpose, _ destination: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: [BusCall.Argument] = []
  ) -> BusCall {
    BusCall(
      purpose: purpose, destination: destination, path: path, interface: interface, member: member,
      arguments: arguments)
  }
}

extension RadioReading {
  fileprivate var cell: RadioCell? { modem?.cell }
}

extension ModemPurpose {
  fileprivate var subject: String {
    switch self {
    case .signalSetup: "the signal"
    case .locationSetup: "the cell"
    default: "its state"
    }
  }
}
