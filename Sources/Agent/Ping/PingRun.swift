import Coverage
import Foundation
import Pinging

/// `ping`: pings some targets and prints what becomes of each ping.
public struct PingRun: Sendable {
  public enum PingProtocol: Hashable, Sendable {
    case icmp
    case rtr(port: UInt16, token: [UInt8]?)
    case oneWay(port: UInt16)
  }

  public enum Family: Hashable, Sendable { case ipv4, ipv6 }

  public enum Format: Hashable, Sendable {
    case text, json
    /// Nothing but summaries.
    case quiet
  }

  /// How to ping, the same for all targets.
  public struct Options: Hashable, Sendable {
    public var pingProtocol = PingProtocol.icmp
    public var family: Family?
    public var interface: String?
    /// A numeric address of this host that pings carry.
    public var source: String?
    public var interval: Duration = .seconds(1)
    public var timeout: Duration = .seconds(1)
    /// 0: until the run is stopped.
    public var count: UInt64 = 0
    /// Ends the run; pings under way are cancelled.
    public var deadline: Duration?
    public var floodWindow: UInt32?
    public var size: UInt16?
    public var isFragmentationForbidden = false
    public var hopLimit: UInt8?
    public var trafficClass: UInt8 = 0
    public var mark: UInt32 = 0
    public var format = Format.text
    /// Pingers with a thread of their own, among which the targets are dealt out.
    public var threads = 1
    /// Where the pings are captured as packets; `nil`: nowhere.
    public var capture: CaptureSettings?

    public init() {}
  }

  private let targets: [String]
  private let options: Options

  public init(targets: [String], options: Options) {
    self.targets = targets
    self.options = options
  }

  /// The 16 bytes of a ping token in Base64; `nil` for anything else.
  public static func token(_ base64: String) -> [UInt8]? {
    Data(base64Encoded: base64).flatMap { $0.count == 16 ? [UInt8]($0) : nil }
  }

  /// Pings until all pings are done, the deadline is reached or `stop` yields; those under way still get their verdict after the
  /// first stop, and are cancelled at the deadline and after the second.
  /// - Parameters:
  ///   - interim: Yields when a summary is wanted while the run goes on.
  ///   - print: Takes the lines of the result.
  ///   - note: Takes lines for the person who watches.
  /// - Throws: `NameError`, `PingerError`, and why packets cannot be captured
  public func run(
    stop: AsyncStream<Void>, interim: AsyncStream<Void>, print: (String) -> Void, note: (String) -> Void
  ) async throws -> CommandOutcome {
    var fleet = try PingFleet(try await resolved(), threads: options.threads)
    defer { fleet.shutdown() }
    var capture = try open(&fleet)
    let (inputs, continuation) = AsyncStream<Input>.makeStream()
    let sources = sources(fleet, stop: stop, interim: interim, into: continuation)
    defer { sources.forEach { $0.cancel() } }

    var ledger = PingLedger(names: fleet.members.map(\.label), format: options.format)
    var lookUps = 0
    var isStopped = false
    for await input in inputs {
      switch input {
      case .stop: isStopped = true
      case .interim: ledger.summaries(isInterim: true).forEach(print)
      case .pings(let events, let pinger, let taken):
        for event in events {
          let subject = fleet.index(pinger: pinger, target: event.target)
          if let subject, event.isSignOfLife { fleet.heard(subject, at: Pinger.now) }
          if let line = ledger.take(event, of: subject) { print(line) }
        }
        taken.yield()
      case .tick:
        if let trouble = capture?.follow(fleet.flows()) { note(trouble) }
        for index in fleet.wantedLookUps(at: Pinger.now, limit: Self.lookUpsAtATime - lookUps) {
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
      if !ledger.isRunning { break }
    }
    ledger.summaries(isInterim: false).forEach(print)
    if let summary = capture?.close() { print(options.format == .json ? summary.json : summary.line) }
    return ledger.haveAllReplied ? .done : .failed
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

  /// Names that are resolved at the same time; each takes a thread.
  private static let lookUpsAtATime = 8

  private func resolved() async throws -> [(name: String, target: PingTarget)] {
    var resolved: [(name: String, target: PingTarget)] = []
    for name in targets {
      let address = try await PingAddress.resolve(name, port: port, family: family)[0]
      var target = PingTarget(
        address: address, echo: echo, interface: options.interface, interval: options.interval,
        timeout: options.timeout, count: options.count)
      target.floodWindow = options.floodWindow
      target.size = options.size
      target.isFragmentationForbidden = options.isFragmentationForbidden
      target.hopLimit = options.hopLimit
      target.trafficClass = options.trafficClass
      target.mark = options.mark
      if let source = options.source {
        target.source = try await PingAddress.resolve(source, port: 0, family: address.family)[0]
      }
      resolved.append((name, target))
    }
    return resolved
  }

  /// Opens the sockets and the capture, drops the privileges that they needed, and sends the first pings.
  private func open(_ fleet: inout PingFleet) throws -> RunningCapture? {
    try fleet.open()
    var capture = try options.capture.map { try RunningCapture($0) }
    try fleet.dropPrivileges()
    try capture?.begin(fleet.flows())
    try fleet.begin()
    return capture
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

  private var family: PingAddress.Family? { options.family.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

  private var port: UInt16 {
    switch options.pingProtocol {
    case .icmp: 0
    case .rtr(let port, _), .oneWay(let port): port
    }
  }

  private var echo: PingTarget.Echo {
    switch options.pingProtocol {
    case .icmp: .icmp
    case .oneWay: .oneWay
    case .rtr(_, let token?): .rtr(token: token)
    case .rtr(_, nil): .rtr(token: Self.unsignedToken)
    }
  }

  /// A token of this moment that no secret has signed.
  private static var unsignedToken: [UInt8] {
    let seconds = UInt32(clamping: WallTime.current.microseconds / 1_000_000)
    return withUnsafeBytes(of: seconds.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
  }
}
