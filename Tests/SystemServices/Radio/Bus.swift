import Coverage

@testable import SystemServices

/// A bus with ModemManager on it, as a value. The test sends its messages.
struct Bus {
  static let root = "/org/freedesktop/ModemManager1"
  static let path = "\(root)/Modem/0"

  private(set) var calls: [ModemCall] = []
  private(set) var notes: [String] = []
  /// Whether ModemManager answers nothing.
  var isHung = false
  /// The error with which ModemManager answers questions about the time; `nil`: it answers them. `.some("")`: not at all.
  var timeError: String?
  private var conversation: ModemConversation
  private var now = ContinuousClock.now

  init(interface: String? = nil, isRequired: Bool = true, mayConfigure: Bool = true) {
    conversation = ModemConversation(
      ModemManagerOptions(interface: interface, isRequired: isRequired, mayConfigure: mayConfigure) { "name of \($0)" })
    calls = conversation.connected(at: now)
  }

  var reading: RadioReading { conversation.reading }
  var deadline: ContinuousClock.Instant? { conversation.nextDeadline }

  func sent(_ purpose: ModemCall.Purpose) -> [ModemCall] { calls.filter { $0.purpose == purpose } }

  /// ModemManager is there, with one modem.
  mutating func show(_ modem: BusValue) {
    answer(.owner, [.bool(true)])
    answer(.objects, [.dictionary([Self.path: modem])])
  }

  mutating func answer(_ purpose: ModemCall.Purpose, _ values: [BusValue] = []) { handle(.answer(purpose, values)) }

  mutating func answerCells(_ cells: [[String: any Sendable]]) {
    answer(.cells(Self.path), [.list(cells.map { .dictionary($0.mapValues(BusValue.of)) })])
  }

  mutating func fail(_ purpose: ModemCall.Purpose, _ name: String, _ text: String) {
    handle(.failure(purpose, name: name, text: text))
  }

  mutating func change(_ properties: [String: BusValue], of interface: String? = nil, at path: String = path) {
    change(properties, ofWhole: interface.map { "\(ModemObject.prefix).\($0)" } ?? ModemObject.prefix, at: path)
  }

  mutating func change(_ properties: [String: BusValue], ofWhole name: String, at path: String) {
    handle(
      .signal(
        path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
        [.string(name), .dictionary(properties), .list([])]))
  }

  mutating func add(_ path: String, _ modem: BusValue) { object("InterfacesAdded", [.string(path), modem]) }

  mutating func remove(_ path: String) {
    object("InterfacesRemoved", [.string(path), .list([.string(ModemObject.prefix)])])
  }

  private mutating func object(_ member: String, _ values: [BusValue]) {
    handle(
      .signal(path: Self.root, interface: "org.freedesktop.DBus.ObjectManager", member: member, values))
  }

  mutating func owner(isThere: Bool) {
    let names: [BusValue] = [
      .string(ModemConversation.service), .string(isThere ? "" : ":1.5"), .string(isThere ? ":1.6" : ""),
    ]
    handle(
      .signal(path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged", names))
  }

  mutating func handle(_ message: ModemMessage) { send(conversation.handle(message, at: now)) }

  /// Lets time pass; ModemManager answers the question whether it lives, unless it hangs.
  mutating func pass(_ duration: Duration) {
    let end = now + duration
    while now < end {
      now = min(end, max(now + .milliseconds(1), conversation.nextDeadline ?? end))
      send(conversation.tick(at: now))
    }
  }

  /// Lets time pass in which the process does nothing.
  mutating func standStill(_ duration: Duration) { now += duration }

  private mutating func send(_ new: [ModemCall]) {
    calls += new
    notes += conversation.drainNotes()
    if !isHung, new.contains(where: { $0.purpose == .liveness }) { answer(.liveness) }
    for case .networkTime(let path) in new.map(\.purpose) where !isHung && timeError != "" {
      if let timeError { fail(.networkTime(path), timeError, "no time") } else { answer(.networkTime(path)) }
    }
    // A hung ModemManager answers nothing; others get their answers from the test.
  }
}

extension BusValue {
  static func of(_ value: any Sendable) -> BusValue {
    switch value {
    case let text as String: .string(text)
    case let flag as Bool: .bool(flag)
    case let number as Int: .integer(Int64(number))
    case let number as Double: .double(number)
    default: .other
    }
  }

  /// A modem that is registered in its home network on the cell 01020304.
  /// - Parameters:
  ///   - rate: The interval of the signal's reports, in seconds.
  ///   - locations: The enabled sources of locations.
  static func modem(mask: Int64, rate: Int64 = 1, locations: Int64 = 1, ports: [(String, Int64)] = []) -> BusValue {
    func named(_ name: String) -> String { "\(ModemObject.prefix).\(name)" }
    return .dictionary([
      ModemObject.prefix: .dictionary([
        "State": .integer(8), "AccessTechnologies": .integer(mask),
        "Ports": .list(ports.map { .list([.string($0.0), .integer($0.1)]) }),
      ]),
      named("Modem3gpp"): .dictionary([
        "RegistrationState": .integer(1), "OperatorCode": .string("23201"), "OperatorName": .string("A Network"),
      ]),
      named("Signal"): .dictionary([
        "Rate": .integer(rate), "Gsm": .dictionary([:]),
        "Lte": .dictionary(["rssi": .double(-60), "rsrp": .double(-91), "rsrq": .double(-10)]),
      ]),
      named("Location"): .dictionary([
        "Enabled": .integer(locations), "SignalsLocation": .bool(locations & 1 == 1),
        "Location": .dictionary(["1": .string("232,01,FFFE,01020304,1A2B")]),
      ]),
    ])
  }
}
