import Coverage
import Networking
import Pinging
import Settings
import Submission

/// Pings of a granted test: whether UDP passes, how long an answer takes, and whether the kernel stamps packets.
enum PingExamination {
  /// The results of the pings on one link.
  struct Pings: Hashable, Sendable {
    /// The ping server's name and port, for the findings.
    var server: String
    /// Why no ping could be sent.
    var trouble: String?
    /// The round-trip times of the pings that were answered in time.
    var answers: [Duration] = []
    /// Pings without an answer in time, and those that an ICMP error reports as undeliverable.
    var lost = 0
    /// Pings whose token the server refuses (RE01).
    var refused = 0
    /// Why the last ping that did not leave was not sent; `nil` when all left.
    var unsent: SendFailure?
    /// Where answers came from, if not from the pinged address.
    var elsewhere: PingAddress?
    /// Answers with both of the kernel's stamps.
    var stamped = 0

    /// Counts an event. Missed pings, and later replies to a ping, change nothing.
    mutating func hear(_ event: PingEvent) {
      switch event.kind {
      case .answered(let nanoseconds):
        answers.append(.nanoseconds(nanoseconds))
        if event.sendStamp == .kernel, event.receiveStamp == .kernel { stamped += 1 }
      case .lost, .icmpError: lost += 1
      case .refused: refused += 1
      case .notSent(let failure): unsent = failure
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
    var pings = Pings(server: "\(grant.pingHost), port \(grant.pingPort)")
    do {
      let address = try await PingAddress.ofServer(
        grant.pingHost, port: grant.pingPort, family: family ?? grant.ipVersion,
        isUnreachable: LinkExamination.monitor(link, to: nil).hasOtherFamilyOnly)
      let reading = LinkExamination.monitor(link, to: address.host).current
      guard reading.path != Path.wifi else {
        pings.trouble = reading.remedy ?? reading.obstacle
        return pings
      }
      let pinger = try Pinger()
      defer { pinger.shutdown() }
      _ = try pinger.start(
        PingTarget(address: address, echo: .rtr(token: grant.pingToken), interface: link.interface, count: count))
      for await event in pinger.events {
        pings.hear(event)
        if event.kind == .finished || event.kind == .removed { break }
      }
    } catch {
      pings.trouble = "\(error)"
    }
    return pings
  }

  // MARK: Judgement

  /// - Parameter link: The link's name; `nil` for the only one.
  static func findings(_ pings: Pings, link: String?) -> [Finding] {
    let place = link.map { "link \($0): " } ?? ""
    if let trouble = pings.trouble {
      return [Finding(.fault, .pings, "\(place)no ping to \(pings.server): \(ForeignText.clean(trouble))")]
    }
    // Before the losses: a refusal shows that UDP passes, so the advice about a firewall would be wrong.
    if pings.refused > 0 {
      return [
        Finding(
          .fault, .pings, "\(place)the ping server refuses the test's token from this address",
          advice: "both servers must see the same address: no proxy or VPN for one of them; docs/protocol.md, 1.2")
      ]
    }
    let median = pings.answers.sorted().nearestRank(50)
    guard let median else {
      if let unsent = pings.unsent {
        return [
          Finding(.fault, .pings, "\(place)pings to \(pings.server) are not sent: \(unsent)", advice: unsent.advice)
        ]
      }
      if let address = pings.elsewhere {
        return [
          Finding(
            .fault, .pings,
            "\(place)the ping server answers from another address, \(address): such answers do not count",
            advice: "ask the server's operator: it must answer from the address that is pinged")
        ]
      }
      return [
        Finding(
          .fault, .pings, "\(place)pings to \(pings.server): none of \(pings.lost) was answered",
          advice: "let UDP to that port pass the firewall; some networks block it")
      ]
    }
    // Tenths of a millisecond.
    let milliseconds = Double(median.inMicroseconds / 100) / 10
    let text =
      "\(place)pings to \(pings.server): \(pings.answers.count) of \(count) answered, median \(milliseconds) ms"
    var findings = [
      pings.answers.count == count
        ? Finding(.good, .pings, text)
        : Finding(.warning, .pings, text, advice: "look at the signal; a drive measures such losses")
    ]
    findings.append(
      pings.stamped == pings.answers.count
        ? Finding(.good, .pings, "\(place)the kernel stamps every packet")
        : Finding(
          .note, .pings,
          "\(place)the kernel stamps \(pings.stamped) of \(pings.answers.count) answers on this interface",
          advice: "the others are read from the clock; their delay includes this program's own"))
    return findings
  }
}
