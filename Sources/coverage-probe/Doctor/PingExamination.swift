import Coverage
import Driving
import Networking
import Pinging
import Settings
import Submission

/// Pings of a granted test: whether UDP passes, how long an answer takes, and whether the kernel stamps packets.
enum PingExamination {
  /// The results of the pings on one link.
  struct Pings: Hashable, Sendable {
    var server: String
    /// How the user's own target is pinged; `nil`: it is the ping server of a test.
    var kind: DriveTarget.Kind?
    /// Why no ping could be sent.
    var trouble: String?
    /// The round-trip times of the pings that were answered in time.
    var answers: [Duration] = []
    /// Pings that a drive counts as lost.
    var lost = 0
    /// Pings whose token the server refuses (RE01).
    var refused = 0
    /// Why a drive would not measure the last ping of those that it would not; `nil` when it would measure all.
    var unsent: Unsent?
    /// Where answers came from, if not from the pinged address.
    var elsewhere: PingAddress?
    /// Answers with both of the kernel's stamps.
    var stamped = 0

    enum Unsent: Hashable, Sendable {
      case failure(SendFailure)
      case closedPort(reason: String)
      /// An ICMP error of this host itself.
      case ownError(reason: String)
    }

    /// Counts an event. Missed pings, and later replies to a ping, change nothing.
    /// - Parameter unsent: Why a drive would not measure the ping, although it left; `nil`: it would.
    mutating func hear(_ event: PingEvent, unsent: Unsent?) {
      switch event.kind {
      case .answered(let nanoseconds):
        answers.append(.nanoseconds(nanoseconds))
        if event.sendStamp == .kernel, event.receiveStamp == .kernel { stamped += 1 }
      case .lost, .icmpError:
        if let unsent { self.unsent = unsent } else { lost += 1 }
      case .refused: refused += 1
      case .notSent(let failure): self.unsent = .failure(failure)
      case .elsewhere: elsewhere = event.from
      default: break
      }
    }
  }

  /// The pings on each link. At the default interval of 100 ms they leave within a second.
  static let count: UInt64 = 10

  /// Pings the server of `grant` until each ping has its verdict. Errors become ``Pings/trouble``.
  /// - Parameters:
  ///   - link: The link to measure; if another kind of link carries packets to this server, no ping is sent, as in a drive.
  ///   - family: The IP version of the configuration; `nil`: that of the grant, if it has one.
  static func ping(_ grant: CoverageGrant, by link: LinkSettings, family: IPVersion?) async -> Pings {
    await ping(
      Pings(server: "\(grant.pingHost), port \(grant.pingPort)"), grant.pingHost, grant.pingPort,
      family: family ?? grant.ipVersion, by: link
    ) { _ in .rtr(token: grant.pingToken) }
  }

  /// Pings the user's own target, as a drive does.
  static func ping(
    _ target: TargetPings, by link: LinkSettings, family: IPVersion?, wall: @Sendable () -> WallTime
  ) async -> Pings {
    let pings = Pings(server: "\(target.target)", kind: target.target.kind)
    return await ping(pings, target.target.host, target.target.port ?? 0, family: family, by: link) { local in
      try target.withSecret().echo(from: local, at: wall())
    }
  }

  private static func ping(
    _ pings: Pings, _ host: String, _ port: UInt16, family: IPVersion?, by link: LinkSettings,
    echo: (_ local: String?) throws -> PingTarget.Echo
  ) async -> Pings {
    var pings = pings
    do {
      let address = try await PingAddress.ofServer(
        host, port: port, family: family,
        isUnreachable: LinkExamination.monitor(link, to: nil).hasOtherFamilyOnly)
      let reading = LinkExamination.monitor(link, to: address.host).current
      guard reading.path != Path.wifi else {
        pings.trouble = reading.remedy ?? reading.obstacle
        return pings
      }
      let pinger = try Pinger()
      defer { pinger.shutdown() }
      _ = try pinger.start(
        PingTarget(address: address, echo: try echo(reading.way?.address), interface: link.interface, count: count))
      var port = ClosedPort(at: address)
      for await event in pinger.events {
        port.hear(event)
        pings.hear(event, unsent: unsent(event, port, reading))
        if event.kind == .finished || event.kind == .removed { break }
      }
    } catch {
      pings.trouble = "\(error)"
    }
    return pings
  }

  /// Why a drive does not measure a ping that left.
  private static func unsent(_ event: PingEvent, _ port: ClosedPort, _ reading: PathReading) -> Pings.Unsent? {
    if let reason = port.outcome(of: event)?.trouble { return .closedPort(reason: reason) }
    return event.outcome(on: reading, radio: nil)?.trouble.map { .ownError(reason: $0) }
  }

  // MARK: Judgement

  private static func words(
    _ unsent: Pings.Unsent, _ kind: DriveTarget.Kind?
  ) -> (reason: String, advice: String?) {
    switch unsent {
    case .failure(let failure): ("\(failure)", failure.advice)
    case .closedPort(let reason): (reason, kind == nil ? "tell its operator" : "start the target there")
    case .ownError(let reason):
      (reason, "`nft list ruleset` shows what rejects them, `ip neigh` whether the next hop answers")
    }
  }

  private static func silenceAdvice(_ kind: DriveTarget.Kind?) -> String {
    switch kind {
    case nil: "let UDP to that port pass the firewall; some networks block it"
    case .icmp: "does another host's `ping` get an answer from it? some hosts and networks answer no echo requests"
    case .udpEcho: "does an echo service run there? then let UDP to that port pass the firewall"
    case .rtr: "has it the same secret, and both clocks the same time? then let UDP to that port pass the firewall"
    }
  }

  static func findings(_ pings: Pings, link: String?) -> [Finding] {
    let place = link.map { "link \($0): " } ?? ""
    func fault(_ text: String, _ advice: String?) -> [Finding] {
      [Finding(.fault, .pings, place + text, advice: advice)]
    }
    if let trouble = pings.trouble { return fault("no ping to \(pings.server): \(ForeignText.clean(trouble))", nil) }
    // Before the losses: a refusal shows that UDP passes, so the advice about a firewall would be wrong.
    if pings.refused > 0 {
      return pings.kind != nil
        ? fault(
          "\(pings.server) refuses the token: it sees another address of this host",
          "behind NAT, start the target with --any-address, or ping it by udp-echo or icmp")
        : fault(
          "the ping server refuses the test's token from this address",
          "both servers must see the same address: no proxy or VPN for one of them; docs/protocol.md, 1.2")
    }
    guard let median = pings.answers.sorted().nearestRank(50) else {
      if let unsent = pings.unsent {
        let (reason, advice) = words(unsent, pings.kind)
        return fault("pings to \(pings.server) are not sent: \(reason)", advice)
      }
      if let address = pings.elsewhere {
        return fault(
          "the ping server answers from another address, \(address): such answers do not count",
          "ask the server's operator: it must answer from the address that is pinged")
      }
      return fault("pings to \(pings.server): none of \(pings.lost) was answered", silenceAdvice(pings.kind))
    }
    // Tenths of a millisecond.
    let milliseconds = Double(median.inMicroseconds / 100) / 10
    let text =
      "\(place)pings to \(pings.server): \(pings.answers.count) of \(count) answered, median \(milliseconds) ms"
    return [
      pings.answers.count == count
        ? Finding(.good, .pings, text)
        : Finding(.warning, .pings, text, advice: "look at the signal; a drive measures such losses"),
      pings.stamped == pings.answers.count
        ? Finding(.good, .pings, "\(place)the kernel stamps every packet")
        : Finding(
          .note, .pings,
          "\(place)the kernel stamps \(pings.stamped) of \(pings.answers.count) answers on this interface",
          advice: "the others are read from the clock; their delay includes this program's own"),
    ]
  }
}
