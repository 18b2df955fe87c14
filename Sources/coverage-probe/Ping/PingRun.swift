import Coverage
import Driving
import Pinging
import Service
import Synchronization

/// The number of batches of one pinger that wait to be processed. The timer that reads them adds, the run subtracts.
private final class Waiting: Sendable {
  let count = Atomic(0)
}

/// `ping`: pings targets, and prints the verdict on each ping.
struct PingRun: Sendable {
  /// Names or numeric addresses.
  let targets: [String]
  /// Lines of a file that are no target. Each is reported, and the run counts as failed.
  var problems: [PingTargetList.Problem] = []
  /// The same for all targets.
  let options: PingOptions

  /// Pings until all pings are done, the deadline is reached or `stop` yields. After the first stop, pings under way
  /// still get their verdicts. The deadline and a second stop cancel them.
  /// - Returns: `failed` when a target never answered in time, or could not be pinged.
  /// - Throws: `PingerError`, ``CaptureRefusal``
  func run(
    stop: AsyncStream<Void>, interim: AsyncStream<Void>, print: (String) -> Void, note: (String) -> Void
  ) async throws -> CommandOutcome {
    var (fleet, refusals) = try await opened()
    defer { fleet.shutdown() }
    refusals.forEach { note("\(Program.name): \($0)") }
    guard !fleet.members.isEmpty else { return .failed }
    let capture = try begin(&fleet, note)

    let (inputs, continuation) = AsyncStream<PingProgress.Input>.makeStream()
    var sources = sources(fleet, stop: stop, interim: interim, into: continuation)
    defer { sources.forEach { $0.cancel() } }
    var progress = PingProgress(fleet: fleet, capture: capture, options: options, inputs: continuation)
    var isLingering = false
    for await input in inputs {
      progress.handle(input, print: print, note: note)
      if progress.isRunning { continue }
      if progress.isStopped || options.linger == .zero { break }
      if !isLingering { sources.append(end(after: options.linger, into: continuation)) }
      isLingering = true
    }
    progress.sumUp(print)
    return refusals.isEmpty && progress.haveAllAnswered ? .done : .failed
  }

  /// The targets that can be pinged, with open sockets, and the reasons for the others: one bad target does not end
  /// the run.
  private func opened() async throws -> (fleet: PingFleet, refusals: [any Error]) {
    var known: [(name: String, target: PingTarget)] = []
    var refusals: [any Error] = problems
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

  /// Opens the capture, drops the privileges that it and the sockets needed, and sends the first pings.
  private func begin(_ fleet: inout PingFleet, _ note: (String) -> Void) throws -> RunningCapture? {
    var capture = try options.capture.map { try RunningCapture($0) }
    let recovery: Privileges = fleet.needsPrivileges || capture != nil ? .recovery : []
    if let warning = Privileges.drop(keeping: capture == nil ? recovery : [recovery, .files]) {
      note("\(Program.name): \(warning)")
    }
    try capture?.begin(fleet.flows())
    if options.output.isVerbose { note(fleet.scheduling) }
    fleet.begin().forEach { note("\(Program.name): \($0)") }
    return capture
  }

  /// Starts the tasks whose events become the inputs: pingers, signals, the tick of each second, and the deadline.
  private func sources(
    _ fleet: PingFleet, stop: AsyncStream<Void>, interim: AsyncStream<Void>,
    into inputs: AsyncStream<PingProgress.Input>.Continuation
  ) -> [Task<Void, Never>] {
    let deadline = options.deadline
    let gathering = options.gathering(targets: fleet.members.count)
    let pings = fleet.pingers.enumerated().map { number, pinger in
      Task {
        if let gathering {
          await Self.gather(each: gathering, from: pinger, number, into: inputs)
        } else {
          await Self.read(pinger, number, into: inputs)
        }
      }
    }
    return pings + [
      Task {
        var isAgain = false
        for await _ in stop {
          fleet.stop()
          inputs.yield(isAgain ? .abandon : .stop)
          isAgain = true
        }
      },
      Task { for await _ in interim { inputs.yield(.interim) } },
      Task { await eachSecond { inputs.yield(.tick) } },
      Task {
        guard let deadline, (try? await Task.sleep(for: deadline)) != nil else { return }
        fleet.stop()
        inputs.yield(.abandon)
      },
    ]
  }

  /// Delivers events as they come, the next batch after the last one was processed.
  private static func read(
    _ pinger: Pinger, _ number: Int, into inputs: AsyncStream<PingProgress.Input>.Continuation
  ) async {
    let (turns, taken) = AsyncStream<Void>.makeStream()
    var turn = turns.makeAsyncIterator()
    var events = pinger.events.makeAsyncIterator()
    while let batch = await events.nextBatch() {
      inputs.yield(.pings(batch, pinger: number) { taken.yield() })
      guard await turn.next() != nil else { return }
    }
  }

  /// Delivers events a few at a time. Up to eight batches may wait, as they are small.
  private static func gather(
    each period: Duration, from pinger: Pinger, _ number: Int, into inputs: AsyncStream<PingProgress.Input>.Continuation
  ) async {
    let waiting = Waiting()
    await each(period) {
      guard waiting.count.load(ordering: .relaxed) < 8 else { return }
      let batch = pinger.events.available()
      guard !batch.isEmpty else { return }
      waiting.count.add(1, ordering: .relaxed)
      inputs.yield(.pings(batch, pinger: number) { waiting.count.subtract(1, ordering: .relaxed) })
    }
  }

  /// Ends a run that waits for late replies only.
  private func end(
    after duration: Duration, into inputs: AsyncStream<PingProgress.Input>.Continuation
  ) -> Task<Void, Never> {
    Task { if (try? await Task.sleep(for: duration)) != nil { inputs.yield(.stop) } }
  }
}
