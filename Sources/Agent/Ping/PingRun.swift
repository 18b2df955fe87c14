import Pinging

/// `ping`: pings some targets and prints what becomes of each ping.
public struct PingRun: Sendable {
  private let targets: [String]
  private let options: PingOptions

  public init(targets: [String], options: PingOptions) {
    self.targets = targets
    self.options = options
  }

  /// Pings until all pings are done, the deadline is reached or `stop` yields; those under way still get their verdict after the
  /// first stop, and are cancelled at the deadline and after the second.
  /// - Parameters:
  ///   - interim: Yields when a summary is wanted while the run goes on.
  ///   - print: Takes the lines of the result.
  ///   - note: Takes lines for the person who watches.
  /// - Returns: `failed` when a target did not answer in time even once, or could not be pinged at all.
  /// - Throws: `PingerError`, and why packets cannot be captured
  public func run(
    stop: AsyncStream<Void>, interim: AsyncStream<Void>, print: (String) -> Void, note: (String) -> Void
  ) async throws -> CommandOutcome {
    var (fleet, refusals) = try await opened()
    defer { fleet.shutdown() }
    refusals.forEach { note("\(Program.name): \($0)") }
    guard !fleet.members.isEmpty else { return .failed }
    var capture = try options.capture.map { try RunningCapture($0) }
    try fleet.dropPrivileges()
    try capture?.begin(fleet.flows())
    if options.isVerbose { note(fleet.scheduling) }
    fleet.begin().forEach { note("\(Program.name): \($0)") }

    let (inputs, continuation) = AsyncStream<Input>.makeStream()
    var sources = sources(fleet, stop: stop, interim: interim, into: continuation)
    defer { sources.forEach { $0.cancel() } }
    var ledger = PingLedger(
      names: fleet.members.map(\.label), format: options.format, leastOutage: options.leastOutage)
    var lookUps = 0
    var isStopped = false
    var isLingering = false
    for await input in inputs {
      switch input {
      case .stop: isStopped = true
      case .interim: ledger.summaries(underWay: fleet.underWay).forEach(print)
      case .pings(let events, let pinger, let taken):
        let wallClock = WallReading.current
        for event in events {
          let subject = fleet.index(pinger: pinger, target: event.target)
          if let subject, event.isSignOfLife { fleet.heard(subject, at: Pinger.now) }
          if let line = ledger.take(event, of: subject, by: wallClock) { print(line) }
        }
        taken.yield()
      case .tick:
        if let trouble = capture?.follow(fleet.flows()) { note(trouble) }
        for index in fleet.wantedLookUps(at: Pinger.now, limit: PingNames.atATime - lookUps) {
          lookUps += 1
          lookUp(index, fleet.members[index], into: continuation)
        }
        // The event that tells the end can be among those that are missing.
        if ledger.missingEvents > 0 {
          for index in ledger.running where fleet.hasFinished(index, isStopped: isStopped) { ledger.finish(index) }
        }
      case .resolved(let index, let addresses):
        lookUps -= 1
        guard let line = move(index, of: &fleet, to: addresses, &capture, note) else { break }
        note(line)
        ledger.rename(index, fleet.members[index].label)
      }
      if ledger.isRunning { continue }
      if isStopped || options.linger == .zero { break }
      if !isLingering { sources.append(end(after: options.linger, into: continuation)) }
      isLingering = true
    }
    ledger.summaries().forEach(print)
    if let summary = capture?.close() { print(options.format == .json ? summary.json : summary.line) }
    return refusals.isEmpty && ledger.haveAllAnswered ? .done : .failed
  }

  private enum Input: Sendable {
    /// The next events of a pinger come when these have been `taken`.
    case pings(ArraySlice<PingEvent>, pinger: Int, taken: AsyncStream<Void>.Continuation)
    case stop
    case interim
    /// Once a second.
    case tick
    case resolved(Int, [PingAddress])
  }

  /// All targets that can be pinged, with their sockets open, and why others cannot: one bad target ends nothing.
  /// - Throws: `PingerError`
  private func opened() async throws -> (fleet: PingFleet, refusals: [any Error]) {
    var known: [(name: String, target: PingTarget)] = []
    var refusals: [any Error] = []
    for (name, found) in zip(targets, await PingNames(options: options).targets(targets)) {
      switch found {
      case .success(let target): known.append((name, target))
      case .failure(let error): refusals.append(error)
      }
    }
    var fleet = try PingFleet(known, threads: options.threads, options: options.pinger)
    refusals += fleet.open()
    return (fleet, refusals)
  }

  /// Pings a member where its name is now, if that is elsewhere.
  /// - Returns: A line about it.
  private func move(
    _ index: Int, of fleet: inout PingFleet, to addresses: [PingAddress], _ capture: inout RunningCapture?,
    _ note: (String) -> Void
  ) -> String? {
    let before = fleet.members[index].target.address
    guard let new = fleet.found(addresses, for: index, at: Pinger.now) else { return nil }
    if let trouble = capture?.follow(fleet.flows()) { note(trouble) }
    let name = fleet.members[index].name
    do {
      try fleet.redirect(index)
      return "\(name) was silent at \(before) and is at \(new) now; pinging there"
    } catch {
      return "cannot ping \(name) at \(new): \(error)"
    }
  }

  private func lookUp(_ index: Int, _ member: PingFleet.Member, into inputs: AsyncStream<Input>.Continuation) {
    let address = member.target.address
    Task {
      let found = try? await PingAddress.resolve(member.name, port: address.port, family: address.family)
      inputs.yield(.resolved(index, found ?? []))
    }
  }

  private func sources(
    _ fleet: PingFleet, stop: AsyncStream<Void>, interim: AsyncStream<Void>,
    into inputs: AsyncStream<Input>.Continuation
  ) -> [Task<Void, Never>] {
    let deadline = options.deadline
    let pings = fleet.pingers.enumerated().map { number, pinger in
      Task {
        let (turns, taken) = AsyncStream<Void>.makeStream()
        var turn = turns.makeAsyncIterator()
        var events = pinger.events.makeAsyncIterator()
        while let batch = await events.nextBatch() {
          inputs.yield(.pings(batch, pinger: number, taken: taken))
          guard await turn.next() != nil else { return }
        }
      }
    }
    return pings + [
      Task {
        var isAgain = false
        for await _ in stop {
          if isAgain { fleet.abandon() } else { fleet.stop() }
          inputs.yield(.stop)
          isAgain = true
        }
      },
      Task { for await _ in interim { inputs.yield(.interim) } },
      Task { while (try? await Task.sleep(for: .seconds(1))) != nil { inputs.yield(.tick) } },
      Task {
        guard let deadline, (try? await Task.sleep(for: deadline)) != nil else { return }
        fleet.abandon()
        inputs.yield(.stop)
      },
    ]
  }

  private func end(
    after duration: Duration, into inputs: AsyncStream<Input>.Continuation
  ) -> Task<Void, Never> {
    Task { if (try? await Task.sleep(for: duration)) != nil { inputs.yield(.stop) } }
  }
}
