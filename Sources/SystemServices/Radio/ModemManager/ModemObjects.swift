import Coverage

/// The objects of ModemManager by their paths, with the lists of cells. A value.
struct ModemObjects: Hashable, Sendable {
  private(set) var modems: [String: ModemObject] = [:]
  /// SIMs, which are objects of their own.
  private var sims: [String: ModemObject] = [:]
  /// The last list of each modem; dropped when the modem moves to another cell.
  private var cells: [String: CellList] = [:]
  /// Modems that are not asked for their cells again: they lack the call, or the bus refuses it.
  var withoutCells: Set<String> = []

  // MARK: Changes

  /// - Parameter answer: To `GetManagedObjects`: all objects.
  mutating func list(_ answer: BusValue?) {
    let all = (answer?.dictionary ?? [:]).mapValues(ModemObject.init)
    (modems, sims) = (all.filter { $0.value.isModem }, all.filter { $0.value.isSIM })
  }

  /// Adds an object, or interfaces of a known one.
  mutating func add(_ interfaces: BusValue, at path: String) {
    if modems[path] != nil { modems[path]?.add(interfaces) } else { modems[path] = ModemObject(interfaces) }
    if modems[path]?.isSIM == true { sims[path] = modems[path] }
    if modems[path]?.isModem == false { modems[path] = nil }
  }

  /// Removes interfaces by their full names; without that of modems, the object is none.
  mutating func remove(_ interfaces: [String], at path: String) {
    sims[path] = nil
    guard modems[path]?.remove(interfaces) == false else { return }
    (modems[path], cells[path]) = (nil, nil)
    withoutCells.remove(path)
  }

  /// Changes properties of an interface.
  /// - Returns: Whether the object is a modem.
  mutating func change(_ interface: String, _ properties: [String: BusValue], at path: String) -> Bool {
    sims[path]?.change(interface, properties)
    modems[path]?.change(interface, properties)
    return modems[path] != nil
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
    if let sim = modem.property("Sim")?.text.flatMap({ sims[$0] }) {
      reading.simOperatorCode = sim.simProperty("OperatorIdentifier")?.name
      reading.simOperatorName = sim.simProperty("OperatorName")?.name
    }
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
    cell.kind = cell.kind ?? listed.kind
    (cell.physical, cell.channel, cell.bandwidth) = (listed.physical, listed.channel, listed.bandwidth)
    return cell
  }
}
