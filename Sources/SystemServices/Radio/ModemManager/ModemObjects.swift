import Coverage

/// The objects of ModemManager by their paths, with the lists of cells. A value.
struct ModemObjects: Hashable, Sendable {
  private(set) var modems: [String: ModemObject] = [:]
  /// SIMs and bearers, as far as they were asked for.
  private var parts: [String: ModemPart] = [:]
  private struct DatedCells: Hashable {
    let list: CellList
    let arrived: ContinuousClock.Instant
  }

  /// The last list of each modem; dropped when the modem moves to another cell, and when it is old.
  private var cells: [String: DatedCells] = [:]
  /// Modems that are not asked for their cells again: they lack the call, or the bus refuses it.
  var withoutCells: Set<String> = []

  // MARK: Changes

  /// - Parameter answer: To `GetManagedObjects`: all objects.
  mutating func list(_ answer: BusValue?) {
    let all = (answer?.dictionary ?? [:]).mapValues(ModemObject.init)
    (modems, parts) = (all.filter { $0.value.isModem }, [:])
  }

  /// Adds an object, or interfaces of a known one.
  mutating func add(_ interfaces: BusValue, at path: String) {
    if modems[path] != nil { modems[path]?.add(interfaces) } else { modems[path] = ModemObject(interfaces) }
    if modems[path]?.isModem == false { modems[path] = nil }
  }

  /// Removes interfaces by their full names; without that of modems, the object is none.
  mutating func remove(_ interfaces: [String], at path: String) {
    guard modems[path]?.remove(interfaces) == false else { return }
    (modems[path], cells[path]) = (nil, nil)
    withoutCells.remove(path)
  }

  /// Changes properties of an interface.
  /// - Returns: Whether the object is a modem.
  mutating func change(_ interface: String, _ properties: [String: BusValue], at path: String) -> Bool {
    if [ModemPart.sim, ModemPart.bearer].contains(interface) { parts[path]?.change(properties) }
    modems[path]?.change(interface, properties)
    return modems[path] != nil
  }

  /// - Parameter properties: Of a SIM or a bearer. Drops those that no modem names any more.
  mutating func setPart(_ properties: [String: BusValue], at path: String) {
    parts[path] = ModemPart(properties)
    let named = namedParts
    parts = parts.filter { named.contains($0.key) }
  }

  /// The paths of the SIMs and bearers that modems name.
  var namedParts: Set<String> { Set(modems.values.flatMap { $0.parts.map(\.path) }) }

  /// The SIM and the bearers of a modem whose properties were not asked for.
  func unknownParts(of path: String) -> [(path: String, interface: String)] {
    (modems[path]?.parts ?? []).filter { parts[$0.path] == nil }
  }

  /// Without effect for a modem that has gone: an answer can come later.
  /// - Parameter answer: To `GetCellInfo`.
  mutating func setCells(_ answer: BusValue?, at path: String, arrived: ContinuousClock.Instant) {
    guard let modem = modems[path] else { return }
    cells[path] = answer.map { DatedCells(list: CellList($0, in: modem.technology?.cellKind), arrived: arrived) }
  }

  /// The modem has another technology or cell, or refuses the list.
  mutating func dropCells(of path: String) { cells[path] = nil }

  /// Drops the lists that arrived at `time` or before.
  mutating func dropCells(until time: ContinuousClock.Instant) { cells = cells.filter { $0.value.arrived > time } }

  /// When the oldest list arrived.
  var oldestCells: ContinuousClock.Instant? { cells.values.map(\.arrived).min() }

  /// Whether the modem's list is of another cell than its location: of the cell before a handover.
  func areCellsStale(of path: String) -> Bool {
    cells[path] != nil && modems[path].map { list(of: $0, at: path) == nil } ?? false
  }

  /// The modem's list, if it is of the cell that the modem is in.
  private func list(of modem: ModemObject, at path: String) -> CellList? {
    cells[path].flatMap { modem.cell?.canBe($0.list.serving?.cell ?? RadioCell()) ?? true ? $0.list : nil }
  }

  // MARK: Values

  /// The values beside the technology. Without registration, signal, cell and operator are of no network: only mask and state
  /// count.
  func reading(of modem: ModemObject, at path: String) -> ModemReading {
    var reading = ModemReading()
    reading.mask = modem.mask
    reading.registration = modem.registration
    guard modem.isRegistered else { return reading }
    reading.operatorCode = modem.property("OperatorCode", of: "Modem3gpp")?.name
    reading.operatorName = modem.property("OperatorName", of: "Modem3gpp")?.name
    let sim = sim(of: modem)
    (reading.simOperatorCode, reading.simOperatorName) = (sim?.operatorCode, sim?.operatorName)
    (reading.signal, reading.cell) = (modem.signal, modem.cell)
    guard let list = list(of: modem, at: path) else { return reading }
    reading.cell = Self.joined(modem.cell, list.serving?.cell)
    reading.signal.merge(list.serving?.levels ?? [:]) { measured, _ in measured }
    reading.timingAdvance = list.timingAdvance
    (reading.secondaries, reading.neighbours) = (list.secondaries, list.neighbours)
    return reading
  }

  private func sim(of modem: ModemObject) -> ModemPart? { modem.property("Sim")?.text.flatMap { parts[$0] } }

  /// The modem, its SIM and its connection.
  func equipment(of modem: ModemObject, _ options: ModemManagerOptions) -> ModemEquipment {
    var equipment = ModemEquipment()
    equipment.manufacturer = modem.property("Manufacturer")?.name
    equipment.model = modem.property("Model")?.name
    equipment.firmware = modem.property("Revision")?.name
    if let sim = sim(of: modem) {
      equipment.sim = sim.number.flatMap { options.simName?($0) }
      equipment.simOperatorCode = sim.operatorCode.flatMap { OperatorCode($0) }?.digits
      equipment.simOperatorName = sim.operatorName
    }
    let bearers = modem.parts.compactMap { $0.interface == ModemPart.bearer ? parts[$0.path] : nil }
      .filter(\.isConnected)
    // With several connections, only the interface shows which one is measured.
    let measured = options.interface.flatMap { interface in bearers.first { $0.networkInterface == interface } }
    if let bearer = measured ?? (bearers.count == 1 ? bearers.first : nil) {
      (equipment.accessPoint, equipment.bearer) = (bearer.accessPoint, bearer.kind)
      equipment.addresses = bearer.addresses
    }
    return equipment
  }

  /// `Location` names the current cell. The list of cells adds its channel.
  private static func joined(_ cell: RadioCell?, _ listed: RadioCell?) -> RadioCell? {
    guard var cell else { return listed }
    guard let listed else { return cell }
    cell.identity = cell.identity ?? listed.identity
    cell.area = cell.area ?? listed.area
    cell.kind = cell.kind ?? listed.kind
    (cell.physical, cell.channel, cell.bandwidth) = (listed.physical, listed.channel, listed.bandwidth)
    return cell
  }
}
