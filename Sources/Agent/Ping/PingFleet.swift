import Evidence
import Pinging

/// The pingers of a run, each with a thread of its own, and the targets that were dealt out to them.
struct PingFleet {
  /// One target of the run.
  struct Member {
    /// As it was asked for.
    let name: String
    let pinger: Int
    var target: PingTarget
    var id: PingTarget.ID = 0
    /// `nil` for a numeric address.
    var watch: NameWatch?

    /// As it is printed.
    var label: String { target.address.host == name ? name : "\(name) (\(target.address.host))" }
  }

  private struct Key: Hashable {
    let pinger: Int
    let target: PingTarget.ID
  }

  let pingers: [Pinger]
  private(set) var members: [Member] = []
  private var indices: [Key: Int] = [:]

  /// - Parameters:
  ///   - targets: Names and what is to be pinged.
  ///   - threads: At most so many pingers; never more than targets.
  /// - Throws: `PingerError`
  init(_ targets: [(name: String, target: PingTarget)], threads: Int) throws {
    let count = max(1, min(threads, targets.count))
    pingers = try (0..<count).map { _ in try Pinger() }
    members = targets.enumerated().map { index, subject in
      Member(name: subject.name, pinger: index % count, target: subject.target)
    }
  }

  /// Opens what all targets need; nothing is sent yet.
  /// - Throws: `PingerError`
  mutating func open() throws {
    for index in members.indices {
      let pinger = members[index].pinger
      let id = try pingers[pinger].add(members[index].target)
      members[index].id = id
      indices[Key(pinger: pinger, target: id)] = index
    }
  }

  /// Drops the privileges of the calling thread and of the pingers' threads.
  /// - Throws: `PingerError`
  func dropPrivileges() throws {
    let keepsRecovery = members.contains { $0.target.interface != nil || $0.target.mark != 0 }
    for pinger in pingers { try pinger.dropPrivileges(keepsRecovery: keepsRecovery) }
  }

  /// Sends the first pings.
  /// - Throws: `PingerError`
  mutating func begin() throws {
    for index in members.indices {
      try pinger(of: index).begin(members[index].id)
      let address = members[index].target.address
      if PingAddress(numeric: members[index].name, port: address.port) == nil {
        members[index].watch = NameWatch(address: address, at: Pinger.now)
      }
    }
  }

  /// No more pings; those under way still get their verdict.
  func stop() {
    for index in members.indices { pinger(of: index).stop(members[index].id) }
  }

  /// Pings under way end as cancelled.
  func abandon() {
    for index in members.indices { pinger(of: index).remove(members[index].id) }
  }

  func shutdown() { pingers.forEach { $0.shutdown() } }

  /// Which member an event of a pinger is about.
  func index(pinger: Int, target: PingTarget.ID) -> Int? { indices[Key(pinger: pinger, target: target)] }

  /// Whether a target has sent all its pings and every one has a verdict.
  /// - Parameter isStopped: It was told to send no more.
  func hasFinished(_ index: Int, isStopped: Bool) -> Bool {
    guard let state = pinger(of: index).state(of: members[index].id) else { return true }
    let count = members[index].target.count
    return state.underWay == 0 && (isStopped || (count > 0 && state.slots >= count))
  }

  /// What a capture of all of it has to let through.
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

  mutating func heard(_ index: Int, at now: UInt64) { members[index].watch?.heard(at: now) }

  /// The names that are to be resolved again now, at most `limit` of them.
  mutating func wantedLookUps(at now: UInt64, limit: Int) -> [Int] {
    var wanted: [Int] = []
    for index in members.indices where wanted.count < limit {
      if members[index].watch?.wantsLookUp(at: now) == true { wanted.append(index) }
    }
    return wanted
  }

  /// The addresses that a member's name has now; none when that could not be found out.
  /// - Returns: Where its pings shall go now; `nil`: where they go already.
  mutating func found(_ addresses: [PingAddress], for index: Int, at now: UInt64) -> PingAddress? {
    guard let new = members[index].watch?.found(addresses, at: now) else { return nil }
    members[index].target.address = new
    return new
  }

  /// - Throws: `PingerError`
  func redirect(_ index: Int) throws {
    try pinger(of: index).redirect(members[index].id, to: members[index].target.address)
  }

  private func pinger(of index: Int) -> Pinger { pingers[members[index].pinger] }
}
