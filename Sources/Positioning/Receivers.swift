/// gpsd's receivers, as far as it has listed them, and the state of each from report to report.
struct Receivers {
  /// A limit for servers that invent devices; no gpsd has as many receivers.
  private static let maximumCount = 64
  /// In seconds. No receiver is slower; a longer cycle is wrong and must not delay the loss of the position.
  private static let longestCycle = 10.0

  /// The errors and the pace of one receiver.
  struct Memory {
    var errors = ErrorMemory()
    var pace = ReceiverPace()
  }

  /// `nil` until gpsd has listed its receivers.
  private var devices: [String: GPSDDevice]?
  private var memories: [String?: Memory] = [:]

  mutating func replace(with list: [GPSDDevice]) -> [PositioningEvent] {
    let named = list.prefix(Self.maximumCount).filter(\.isActive).map { ($0.path, completed($0)) }
    return change(to: Dictionary(named) { _, later in later })
  }

  mutating func update(_ device: GPSDDevice) -> [PositioningEvent] {
    var changed = devices ?? [:]
    changed[device.path] = device.isActive ? completed(device) : nil
    return changed.count <= Self.maximumCount ? change(to: changed) : []
  }

  /// The device with driver and model of an earlier report: gpsd names them once, not in each report.
  private func completed(_ device: GPSDDevice) -> GPSDDevice {
    var device = device
    let known = devices?[device.path]
    (device.driver, device.model) = (device.driver ?? known?.driver, device.model ?? known?.model)
    return device
  }

  /// The time between two fixes; zero when unknown or wrong.
  func cycle(of path: String?) -> Duration {
    guard let path, let cycle = devices?[path]?.cycle, cycle <= Self.longestCycle else { return .zero }
    return .seconds(cycle)
  }

  /// What the receiver says of itself.
  func model(of path: String?) -> String? { path.flatMap { devices?[$0]?.model } }

  /// Changes the state of a receiver; discards it for receivers beyond ``maximumCount``.
  @discardableResult
  mutating func update<Result>(_ device: String?, _ change: (inout Memory) -> Result) -> Result {
    var memory = memories[device] ?? Memory()
    defer { if memories[device] != nil || memories.count < Self.maximumCount { memories[device] = memory } }
    return change(&memory)
  }

  func errorFigures(of report: TPV, at now: ContinuousClock.Instant) -> ErrorFigures {
    let driver = report.device.flatMap { devices?[$0]?.driver }
    return (memories[report.device] ?? Memory()).errors.figures(of: report, driver: driver, at: now)
  }

  private mutating func change(to changed: [String: GPSDDevice]) -> [PositioningEvent] {
    let isSame = devices.map { Set($0.keys) == Set(changed.keys) } ?? false
    devices = changed
    return isSame ? [] : [.status(.devices(changed.keys.sorted()))]
  }
}

/// The latest dilutions and standard deviations of a receiver: SKY and GST come as separate reports beside the positions.
struct ErrorMemory {
  /// The largest number of dilutions.
  private static let count = 4
  /// How long a dilution can belong to a position.
  private static let reach = Duration.seconds(10)
  /// Receivers with GST send it each second.
  private static let lifeOfGST = Duration.milliseconds(1500)

  private var dilutions: [(dilution: Dilution, arrival: ContinuousClock.Instant)] = []
  private var gst: (report: GSTReport, arrival: ContinuousClock.Instant)?

  mutating func note(_ dilution: Dilution, at now: ContinuousClock.Instant) {
    guard dilution.hdop != nil || dilution.xdop != nil else { return }
    dilutions.removeAll { $0.dilution == dilution }
    dilutions.insert((dilution, now), at: 0)
    if dilutions.count > Self.count { dilutions.removeLast() }
  }

  mutating func note(_ report: GSTReport, at now: ContinuousClock.Instant) { gst = (report, now) }

  /// The error figures of a position report that came at `now`.
  func figures(of report: TPV, driver: String?, at now: ContinuousClock.Instant) -> ErrorFigures {
    ErrorFigures(
      eph: report.eph, epx: report.epx, epy: report.epy, status: report.status, driver: driver,
      dilutions: dilutions.filter { now < $0.arrival + Self.reach }.map(\.dilution),
      gst: gst.flatMap { now < $0.arrival + Self.lifeOfGST ? $0.report : nil })
  }
}
