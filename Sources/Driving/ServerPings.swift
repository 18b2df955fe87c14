import Coverage
import Pinging

/// Where the pings of a drive go, and to which test each one belongs. A pure value.
///
/// Pings follow the server's name when it moves to another address.
struct ServerPings: Hashable, Sendable {
  private struct Server: Hashable {
    /// As the control server named it.
    let host: String
    let target: PingTarget.ID
    var watch: NameWatch
  }

  /// The pings that are being sent.
  private(set) var target: PingTarget.ID?
  /// By target, those that have stopped included until their last verdict.
  private var generations: [PingTarget.ID: PingSession.Generation] = [:]
  /// When targets that have stopped gave way to another session; pings that they sent later count for none.
  private var cuts: [PingTarget.ID: DriveTime] = [:]
  /// `nil` before the first test.
  private var server: Server?

  /// The test to which the pings of `target` belong; `nil` for an unknown one.
  func generation(of target: PingTarget.ID) -> PingSession.Generation? { generations[target] }

  /// The test of the pings that are being sent.
  var generation: PingSession.Generation? { target.flatMap { generations[$0] } }

  /// Whether a ping of `target` that was sent at `time` counts.
  func counts(_ target: PingTarget.ID, at time: DriveTime) -> Bool { cuts[target].map { time < $0 } ?? true }

  /// - Parameter now: In nanoseconds on the clock of `Pinger.now`.
  mutating func begin(_ target: PingTarget.ID, _ start: PingStart, at now: UInt64) {
    self.target = target
    generations[target] = start.generation
    server = Server(host: start.host, target: target, watch: NameWatch(address: start.address, at: now))
  }

  /// Pings that were sent before `time` still count.
  mutating func stop(at time: DriveTime) -> [DriveEffect] {
    guard let target else { return [] }
    cuts[target] = time
    self.target = nil
    return [.stopPings(target)]
  }

  /// The last verdict of `target` is known.
  mutating func finished(_ target: PingTarget.ID) -> [DriveEffect] {
    generations[target] = nil
    cuts[target] = nil
    return [.removePings(target)]
  }

  mutating func heard(_ event: PingEvent, at now: UInt64) {
    if event.target == target, event.isSignOfLife { server?.watch.heard(at: now) }
  }

  /// Once a second. Silence means nothing while nothing is sent.
  mutating func tick(at now: UInt64) -> [DriveEffect] {
    guard var server else { return [] }
    if target == nil { server.watch.heard(at: now) }
    let address = server.watch.address
    let isNumeric = PingAddress(numeric: server.host, port: address.port) != nil
    let isWanted = !isNumeric && server.watch.wantsLookUp(at: now)
    self.server = server
    return isWanted ? [.lookUp(host: server.host, like: address)] : []
  }

  /// - Parameter addresses: Of `host`; none when the look-up failed.
  mutating func found(_ addresses: [PingAddress], of host: String, at now: UInt64) -> [DriveEffect] {
    guard var server, server.host == host else { return [] }
    let old = server.watch.address
    let new = server.watch.found(addresses, at: now)
    self.server = server
    guard let new else { return [] }
    return [
      .tell(.notice, "\(host) was silent at \(old) and is at \(new) now; pinging there"),
      .redirectPings(server.target, to: new),
    ]
  }
}
