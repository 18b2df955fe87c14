import Coverage

/// The objects of ModemManager by their paths, with the lists of cells. A value.
struct ModemObjects: Hashable, Sendable {
  private(set) var modems: [String: ModemObject] = [:]
  /// SIMs and bearers, as far as they were asked for.
  private var parts: [String: ModemPart] = [:]
  /// The last list of each modem; dropped when the modem moves to another cell.
  private var cells: [String: CellList] = [:]
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
    let named = Set(modems.values.flatMap { $0.parts.map(\.path) })
    parts[path] = ModemPart(properties)
    parts = parts.filter { named.contains($0.key) }
  }

  /// The SIM and the bearers of a modem whose properties were not asked for.
  func unknownParts(of path: String) -> [(path: String, interface: String)] {
    (modems[path]?.parts ?? []).filter { parts[$0.path] == nil }
  }

  /// Without effect for a modem that has gone: an answer can come later.
  mutating func setCells(_ list: CellList?, at path: String) { if modems[path] != nil { cells[path] = list } }

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
    let list = cells[path]
    reading.signal = modem.signal
    reading.cell = Self.joined(modem.cell, list?.serving?.cell)
    // A list of another cell is of the past.
    if let list, modem.cell?.canBe(list.serving?.cell ?? RadioCell()) ?? true {
      reading.signal.merge(list.levels) { measured, _ in measured }
      reading.timingAdvance = list.timingAdvance
    }
    (reading.secondaries, reading.neighbours) = (list?.secondaries ?? [], list?.neighbours ?? [])
    return reading
  }

  private func sim(of modem: ModemObject) -> ModemPart? { modem.property("Sim")?.text.flatMap { parts[$0] } }

  /// The modem, its SIM and its connection.
  /// - Parameter simName: Turns the SIM's number into its pseudonym; `nil`: the SIM has none.
  func equipment(of modem: ModemObject, simName: ((String) -> String?)?) -> ModemEquipment {
    var equipment = ModemEquipment()
    equipment.manufacturer = modem.property("Manufacturer")?.name
    equipment.model = modem.property("Model")?.name
    equipment.firmware = modem.property("Revision")?.name
    if let sim = sim(of: modem) {
      equipment.sim = sim.number.flatMap { simName?($0) }
      equipment.simOperatorCode = sim.operatorCode.flatMap { OperatorCode($0) }?.digits
      equipment.simOperatorName = sim.operatorName
    }
    let bearers = modem.parts.compactMap { $0.interface == ModemPart.bearer ? parts[$0.path] : nil }
    if let bearer = bearers.first(where: \.isConnected) {
      (equipment.accessPoint, equipment.bearer) = (bearer.accessPoint, bearer.kind)
      equipment.addresses = bearer.addresses
    }
    return equipment
  }

  /// `Location` names the current cell. The list of cells adds its channel, if both mean the same cell.
  private static func joined(_ cell: RadioCell?, _ listed: RadioCell?) -> RadioCell? {
    guard var cell else { return listed }
    guard let listed, cell.canBe(listed) else { return cell }
    cell.identity = cell.identity ?? listed.identity
    cell.area = cell.area ?? listed.area
    cell.kind = cell.kind ?? listed.kind
    (cell.physical, cell.channel, cell.bandwidth) = (listed.physical, listed.channel, listed.bandwidth)
    return cell
  }
}
