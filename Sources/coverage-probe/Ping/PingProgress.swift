import Driving
import Pinging

/// A run under way: its targets, their results so far, and the reaction to each input. ``PingRun`` calls it with one input at a
/// time.
struct PingProgress {
  /// The events of a run, in one ordered stream.
  enum Input: Sendable {
    /// `taken` must be called after the events were processed: only then the pinger delivers more.
    case pings(ArraySlice<PingEvent>, pinger: Int, taken: @Sendable () -> Void)
    /// Send no more pings; wait for those under way.
    case stop
    /// Send no more pings, and cancel those under way.
    case abandon
    /// Print the summaries so far (SIGQUIT).
    case interim
    /// Comes once a second.
    case tick
    /// The addresses of a member's name, or why the look-up failed.
    case resolved(Int, Result<[PingAddress], NameError>)
  }

  private var fleet: PingFleet
  private var capture: RunningCapture?
  private var results: PingResults
  private var lookUps = 0
  /// `nil` until the pings under way are cancelled.
  private var departure: PingDeparture?
  private let isJSON: Bool
  private let inputs: AsyncStream<Input>.Continuation
  private(set) var isStopped = false

  init(
    fleet: PingFleet, capture: RunningCapture?, options: PingOptions, inputs: AsyncStream<Input>.Continuation
  ) {
    (self.fleet, self.capture, self.inputs) = (fleet, capture, inputs)
    isJSON = options.output.format == .json
    results = PingResults(
      names: fleet.members.map(\.label), format: options.output.format, isQuiet: options.output.isQuiet,
      leastOutage: options.leastOutage)
  }

  /// Whether verdicts are still expected.
  var isRunning: Bool { results.isRunning }
  var haveAllAnswered: Bool { results.haveAllAnswered }

  mutating func handle(_ input: Input, print: (String) -> Void, note: (String) -> Void) {
    switch input {
    case .pings(let events, let pinger, let taken):
      handle(events, of: pinger, print)
      taken()
    case .stop: isStopped = true
    case .abandon:
      isStopped = true
      departure = departure ?? PingDeparture(of: fleet.members.indices)
      removeSome()
    case .interim: results.summaries(underWay: fleet.members.indices.map(fleet.underWay)).forEach(print)
    case .tick: tick(note)
    case .resolved(let index, .success(let addresses)):
      lookUps -= 1
      move(index, to: addresses, note)
    case .resolved(let index, .failure(let error)):
      lookUps -= 1
      let address = fleet.members[index].target.address
      if fleet.lookUpFailed(index, at: Pinger.now) { note("\(address) is silent: \(error)") }
    }
  }

  private mutating func handle(_ events: ArraySlice<PingEvent>, of pinger: Int, _ print: (String) -> Void) {
    let wallClock = WallReading.current
    for event in events {
      let subject = fleet.index(pinger: pinger, target: event.target)
      if let subject, event.isSignOfLife { fleet.heard(subject, at: Pinger.now) }
      if let line = results.record(event, of: subject, by: wallClock) { print(line) }
      if let subject, event.kind == .removed { departure?.hasLeft(subject) }
    }
    removeSome()
  }

  /// Removes the targets whose last events fit into the rings now.
  private mutating func removeSome() {
    guard let leaving = departure?.next(underWay: fleet.underWay) else { return }
    leaving.forEach(fleet.remove)
  }

  /// Follows new ports and addresses with the capture, resolves names of silent targets, and finds targets whose end was missed.
  private mutating func tick(_ note: (String) -> Void) {
    if let trouble = capture?.follow(fleet.flows()) { note(trouble) }
    for index in fleet.wantedLookUps(at: Pinger.now, limit: PingNames.atATime - lookUps) {
      lookUps += 1
      lookUp(index)
    }
    // The event that reports the end of a target may be among the missing events.
    guard results.missingEvents > 0 else { return }
    departure?.losesCount()
    removeSome()
    for index in results.running where fleet.hasFinished(index, isStopped: isStopped) { results.finish(index) }
  }

  /// Resolves the name of a member beside the run; the result comes back as an input.
  private func lookUp(_ index: Int) {
    let (name, address) = (fleet.members[index].name, fleet.members[index].target.address)
    let inputs = inputs
    Task {
      do throws(NameError) {
        let found = try await PingAddress.resolve(name, port: address.port, family: address.family)
        inputs.yield(.resolved(index, .success(found)))
      } catch {
        inputs.yield(.resolved(index, .failure(error)))
      }
    }
  }

  /// Redirects the pings of a member to the present address of its name, if that has changed.
  private mutating func move(_ index: Int, to addresses: [PingAddress], _ note: (String) -> Void) {
    let before = fleet.members[index].target.address
    guard let new = fleet.found(addresses, for: index, at: Pinger.now) else { return }
    if let trouble = capture?.follow(fleet.flows()) { note(trouble) }
    let name = fleet.members[index].name
    do {
      try fleet.redirect(index)
      note("\(name) was silent at \(before) and is at \(new) now; pinging there")
    } catch {
      note("cannot ping \(name) at \(new): \(error)")
    }
    results.rename(index, fleet.members[index].label)
  }

  /// Prints the summaries, and completes the capture.
  mutating func sumUp(_ print: (String) -> Void) {
    results.summaries().forEach(print)
    if let summary = capture?.close() { print(isJSON ? summary.json : summary.line) }
  }
}

/// Decides when each target is removed. Removing a target cancels its pings under way, and the verdicts of all
/// targets together may not fit into a pinger's ring. A pure value.
struct PingDeparture {
  /// Half of the default ring of a pinger, the smallest one of a run.
  static let eventsAtOnce: UInt64 = 2048

  /// The targets that are not removed yet, in order.
  private var staying: ArraySlice<Int>
  /// The number of verdicts still expected, for each removed target.
  private var owed: [Int: UInt64] = [:]
  /// The sum of ``owed``.
  private var owedEvents: UInt64 = 0

  init(of targets: Range<Int>) { staying = Array(targets)[...] }

  /// - Returns: The targets to remove now.
  mutating func next(underWay: (Int) -> UInt64) -> [Int] {
    var leaving: [Int] = []
    while let target = staying.first {
      // The verdicts, and the event that reports the removal. The first target goes even if it has more than fit.
      let events = underWay(target) + 1
      guard owed.isEmpty || owedEvents + events <= Self.eventsAtOnce else { break }
      owed[target] = events
      owedEvents += events
      leaving.append(target)
      staying.removeFirst()
    }
    return leaving
  }

  /// The last event of a target has arrived.
  mutating func hasLeft(_ target: Int) {
    owedEvents -= owed.removeValue(forKey: target) ?? 0
  }

  /// Events are missing: targets whose verdicts are expected may be gone already.
  mutating func losesCount() {
    owed = [:]
    owedEvents = 0
  }
}
