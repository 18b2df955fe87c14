import Driving
import Pinging
import Service

/// The pingers of a run, each with its own thread, and the targets distributed over them.
struct PingFleet {
  struct Member {
    /// The name that the operator gave.
    let name: String
    /// The index of its pinger in ``pingers``.
    let pinger: Int
    var target: PingTarget
    /// Unique within its pinger; 0 before ``open()``.
    var id: PingTarget.ID = 0
    /// `nil` for a numeric address.
    var watch: NameWatch?
    /// Whether a look-up of its name has failed since the last sign of life.
    var isFailureNoted = false

    var label: String { target.address.host == name ? name : "\(name) (\(target.address.host))" }
  }

  /// Target ids are unique within one pinger only.
  private struct Key: Hashable {
    let pinger: Int
    let target: PingTarget.ID
  }

  let pingers: [Pinger]
  private(set) var members: [Member] = []
  /// The index in ``members`` of each open target.
  private var indices: [Key: Int] = [:]

  /// - Parameters:
  ///   - threads: The most pingers; there are never more pingers than targets.
  ///   - options: For each pinger; its ring is enlarged for the events of all its targets at once.
  /// - Throws: `PingerError`
  init(_ targets: [(name: String, target: PingTarget)], threads: Int, options: Pinger.Options = .init()) throws {
    let count = max(1, min(threads, targets.count))
    var options = options
    let events = UInt32(clamping: Self.eventsAtOnce * (targets.count / count + 1))
    options.eventCapacity = min(max(options.eventCapacity, events), Pinger.Options.largestEventCapacity)
    pingers = try (0..<count).map { _ in try Pinger(options) }
    members = targets.enumerated().map { index, subject in
      Member(name: subject.name, pinger: index % count, target: subject.target)
    }
  }

  /// The most events of one target while the reader is busy: two verdicts, an event that follows one, and its end.
  private static let eventsAtOnce = 4

  /// Opens the sockets of all targets; sends nothing.
  /// - Returns: Targets that cannot be pinged; they are no longer members.
  mutating func open() -> [CommandFailure] {
    var refusals: [CommandFailure] = []
    var opened: [Member] = []
    for var member in members {
      do {
        member.id = try pingers[member.pinger].add(member.target)
        indices[Key(pinger: member.pinger, target: member.id)] = opened.count
        opened.append(member)
      } catch {
        refusals.append(CommandFailure("cannot ping \(member.name): \(error)"))
      }
    }
    members = opened
    return refusals
  }

  /// Whether a socket can be reopened only with a privilege.
  var needsPrivileges: Bool {
    members.contains {
      $0.target.interface != nil || $0.target.mark != 0 || $0.target.source?.hasScope == true
    }
  }

  /// Sends the first pings. The targets share the interval evenly, so that their verdicts do not arrive all at once.
  /// - Returns: Targets that cannot be pinged; they stay members without an answer.
  mutating func begin() -> [CommandFailure] {
    var refusals: [CommandFailure] = []
    let start = Pinger.now
    for index in members.indices {
      let target = members[index].target
      let share = UInt64(max(0, target.interval.inNanoseconds)) / UInt64(members.count) * UInt64(index)
      do {
        // A slot in the past would be skipped.
        try pinger(of: index).begin(members[index].id, at: max(start + share, Pinger.now))
      } catch {
        refusals.append(CommandFailure("cannot ping \(members[index].name): \(error)"))
      }
      if PingAddress(numeric: members[index].name, port: target.address.port) == nil {
        members[index].watch = NameWatch(address: target.address, at: Pinger.now)
      }
    }
    return refusals
  }

  /// Sends no more pings; those under way still get their verdicts.
  func stop() {
    for index in members.indices { pinger(of: index).stop(members[index].id) }
  }

  /// Removes a member; its pings under way end as cancelled.
  func remove(_ index: Int) { pinger(of: index).remove(members[index].id) }

  func shutdown() { pingers.forEach { $0.shutdown() } }

  /// The member that an event of a pinger belongs to.
  func index(pinger: Int, target: PingTarget.ID) -> Int? { indices[Key(pinger: pinger, target: target)] }

  /// Whether a target has sent all its pings and each one has a verdict.
  func hasFinished(_ index: Int, isStopped: Bool) -> Bool {
    guard let state = pinger(of: index).state(of: members[index].id) else { return true }
    let count = members[index].target.count
    return state.underWay == 0 && (isStopped || (count > 0 && state.slots >= count))
  }

  /// The number of pings of a member without a verdict.
  func underWay(_ index: Int) -> UInt64 { pinger(of: index).state(of: members[index].id)?.underWay ?? 0 }

  /// How the pings are scheduled, for an operator.
  var scheduling: String {
    switch pingers[0].scheduling {
    case .usual: "pinging without SCHED_FIFO"
    case .fifo: "pinging as SCHED_FIFO"
    case .notPermitted(let reason): "pinging without SCHED_FIFO: \(reason)"
    }
  }

  func flows() -> [CaptureFlow] {
    members.indices.compactMap { index in
      guard let state = pinger(of: index).state(of: members[index].id) else { return nil }
      let target = members[index].target
      let echo: CaptureFlow.Echo =
        target.echo == .icmp ? .icmp(identifier: state.localPort) : .udp(localPort: state.localPort)
      return CaptureFlow(echo, host: target.address.host, port: target.address.port)
    }
  }

  // MARK: Names

  /// The member answered at `now`: its name need not be resolved.
  mutating func heard(_ index: Int, at now: UInt64) {
    members[index].watch?.heard(at: now)
    members[index].isFailureNoted = false
  }

  /// Members whose names are to be resolved again now, at most `limit` of them.
  mutating func wantedLookUps(at now: UInt64, limit: Int) -> [Int] {
    var wanted: [Int] = []
    for index in members.indices where wanted.count < limit {
      if members[index].watch?.wantsLookUp(at: now) == true { wanted.append(index) }
    }
    return wanted
  }

  /// Handles the failure of a look-up: the pings stay at their address.
  /// - Returns: Whether it is the first failure of an outage.
  mutating func lookUpFailed(_ index: Int, at now: UInt64) -> Bool {
    guard members[index].watch?.failed(at: now) == true else { return false }
    defer { members[index].isFailureNoted = true }
    return !members[index].isFailureNoted
  }

  /// Handles the result of a look-up.
  /// - Returns: The new address for the pings; `nil` when it has not changed.
  mutating func found(_ addresses: [PingAddress], for index: Int, at now: UInt64) -> PingAddress? {
    members[index].isFailureNoted = false
    guard let new = members[index].watch?.found(addresses, at: now) else { return nil }
    members[index].target.address = new
    return new
  }

  func redirect(_ index: Int) throws {
    try pinger(of: index).redirect(members[index].id, to: members[index].target.address)
  }

  private func pinger(of index: Int) -> Pinger { pingers[members[index].pinger] }
}
