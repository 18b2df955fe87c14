import Coverage
import Networking
import Pinging

/// The targets of a drive's pings, and the test of each one. A pure value.
///
/// Pings follow the ping server's name when it resolves to another address.
struct ServerPings: Hashable, Sendable {
  /// The ping server of the present target.
  private struct Server: Hashable {
    /// The name from the control server.
    let host: String
    let target: PingTarget.ID
    var watch: NameWatch
    var closedPort: ClosedPort
    var hasAnswered = false
    /// Whether a failed look-up was logged since the last sign of life.
    var isFailureLogged = false
  }

  /// The target that pings are sent to now.
  private(set) var target: PingTarget.ID?
  /// The test of each target, including stopped targets that still have pings without a verdict.
  private var generations: [PingTarget.ID: TestSelection.Generation] = [:]
  /// When each stopped target was replaced by another session; its later pings count for no fence.
  private var cuts: [PingTarget.ID: DriveTime] = [:]
  /// `nil` before the first test.
  private var server: Server?

  /// The test that the pings of `target` belong to; `nil` for an unknown target.
  func generation(of target: PingTarget.ID) -> TestSelection.Generation? { generations[target] }

  /// The test of the pings sent now.
  var generation: TestSelection.Generation? { target.flatMap { generations[$0] } }

  /// The address to which pings are sent now, if it is that of the granted test's host.
  func address(of grant: GrantedTest) -> PingAddress? {
    guard target != nil, let server, server.host == grant.host else { return nil }
    let address = server.watch.address
    return address.port == grant.port && address.family == grant.coverage?.ipVersion ?? address.family ? address : nil
  }

  /// The IP version of the pings sent now, while none of them has been answered.
  var silentFamily: IPVersion? {
    target != nil && server?.hasAnswered == false ? server?.watch.address.family : nil
  }

  /// Whether a ping sent to `target` at `time` counts.
  func counts(_ target: PingTarget.ID, at time: DriveTime) -> Bool { cuts[target].map { time < $0 } ?? true }

  /// - Parameter now: In nanoseconds on the clock of `Pinger.now`.
  mutating func begin(_ target: PingTarget.ID, _ start: PingStart, at now: UInt64) {
    self.target = target
    generations[target] = start.generation
    // Another test at the same address may wait a second for its first error.
    let known = server.flatMap { $0.closedPort.address == start.address ? $0.closedPort : nil }
    server = Server(
      host: start.host, target: target, watch: NameWatch(address: start.address, at: now),
      closedPort: known ?? ClosedPort(at: start.address))
  }

  /// Stops the pings. Those sent before `time` still count.
  mutating func stop(at time: DriveTime) -> [DriveEffect] {
    guard let target else { return [] }
    cuts[target] = time
    self.target = nil
    return [.stopPings(target)]
  }

  /// Removes `target` after its last verdict.
  mutating func finished(_ target: PingTarget.ID) -> [DriveEffect] {
    generations[target] = nil
    cuts[target] = nil
    return [.removePings(target)]
  }

  /// ``ClosedPort/outcome(of:)`` at the present ping server.
  func outcomeAtClosedPort(of event: PingEvent) -> (PingOutcome, trouble: String?)? {
    server?.closedPort.outcome(of: event)
  }

  mutating func heard(_ event: PingEvent, at now: UInt64) {
    server?.closedPort.hear(event)
    guard event.target == target, event.isSignOfLife else { return }
    server?.watch.heard(at: now)
    server?.isFailureLogged = false
    server?.hasAnswered = true
  }

  /// Must be called once a second. Silence means nothing while no pings are sent.
  mutating func tick(at now: UInt64) -> [DriveEffect] {
    guard var server else { return [] }
    if target == nil { server.watch.heard(at: now) }
    let address = server.watch.address
    let isNumeric = PingAddress(numeric: server.host, port: address.port) != nil
    let isWanted = !isNumeric && server.watch.wantsLookUp(at: now)
    self.server = server
    return isWanted ? [.lookUp(host: server.host, like: address)] : []
  }

  /// - Parameters:
  ///   - addresses: The addresses of `host`.
  ///   - host: The name that was looked up.
  ///   - now: In nanoseconds on the clock of `Pinger.now`.
  mutating func found(_ addresses: [PingAddress], of host: String, at now: UInt64) -> [DriveEffect] {
    guard var server, server.host == host else { return [] }
    let old = server.watch.address
    let new = server.watch.found(addresses, at: now)
    self.server = server
    guard let new else { return [] }
    self.server?.closedPort = ClosedPort(at: new)
    return [
      .log(.notice, "\(host) was silent at \(old) and is at \(new) now; pinging there"),
      .redirectPings(server.target, to: new),
    ]
  }

  /// The pings stay at their address, and the name is looked up again after another time of silence. Logs the first
  /// failure of an outage.
  mutating func lookUpFailed(_ reason: String, of host: String, at now: UInt64) -> [DriveEffect] {
    guard var server, server.host == host else { return [] }
    let isSilent = server.watch.failed(at: now)
    let isFirst = isSilent && !server.isFailureLogged
    if isSilent { server.isFailureLogged = true }
    self.server = server
    return isFirst ? [.log(.notice, "the ping server at \(server.watch.address) is silent: \(reason)")] : []
  }
}

/// Whether the pings of a drive or of `doctor` meet a port where nothing listens. A pure value.
public struct ClosedPort: Hashable, Sendable {
  /// The pinged one.
  let address: PingAddress
  /// The slots of the pings that met the closed port: from the first of which the host said so, to ``span`` after the last, or to the next
  /// answered one. Two of them: pings of the former time may still be without an outcome.
  private var closed: [Range<UInt64>] = []
  /// In ns. A host limits its ICMP errors, to one a second on Linux.
  private static let span: UInt64 = 2_500_000_000

  /// - Parameter address: The pinged one.
  public init(at address: PingAddress) { self.address = address }

  /// Must be called with each event, before ``outcome(of:)``.
  public mutating func hear(_ event: PingEvent) {
    let slot = event.slot
    if event.isPortUnreachable, event.from?.host == address.host {
      var time = slot..<slot.saturatingAdding(Self.span)
      if let last = closed.last, slot <= last.upperBound {
        time = min(last.lowerBound, slot)..<max(last.upperBound, time.upperBound)
        closed.removeLast()
      }
      closed = closed.suffix(1) + [time]
    } else if event.isSignOfLife, let last = closed.last, last.contains(slot) {
      closed[closed.count - 1] = last.lowerBound..<slot
    }
  }

  /// The outcome of a ping where the host shows that the network carried it: it is not measured.
  public func outcome(of event: PingEvent) -> (PingOutcome, trouble: String?)? {
    guard case .failed? = event.outcome, closed.contains(where: { $0.contains(event.slot) }) else { return nil }
    return (.unsent(), "nothing listens at the ping server's port")
  }
}

extension PingEvent {
  /// The outcome of a ping, and why this host could not send it. Where the network is missing, a ping that was not sent is lost.
  public func outcome(on network: PathReading?, radio: RadioReading?) -> (PingOutcome, trouble: String?)? {
    switch kind {
    case .notSent(let failure):
      let ping = UnsentPing(
        failure.refusal, noWay: network?.noWay, hasService: radio?.modem?.hasService)
      return (ping.outcome, ping.isLost ? nil : "\(failure)")
    // The kernel drops it as sent.
    case .lost where network?.noWay == .deadEnd && radio?.modem?.hasService != false:
      return (.unsent(), network?.obstacle)
    case .icmpError where isOwn(from, network):
      return (.unsent(), "this host itself reports: \(icmpText ?? "")")
    case .missed: return outcome.map { ($0, "this host had no time") }
    default: return outcome.map { ($0, nil) }
    }
  }

  /// Whether an ICMP error comes from this host, and this host is not the pinged one.
  private func isOwn(_ reporter: PingAddress?, _ network: PathReading?) -> Bool {
    guard let reporter, let way = network?.way else { return false }
    return reporter.host == way.address && reporter.host != way.destination
  }
}
