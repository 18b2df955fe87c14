import Coverage
import Foundation
import OrderedJSON
import Pinging

/// The routers on the way to a host, by packets with a limited number of hops.
///
/// ICMP echo where this process may send it, else UDP to ports that are normally closed, for which no privilege is needed: the
/// kernel passes on the reports of routers either way. CPinger sends the packets and times the replies.
struct TracerouteTest: QoSTest {
  private let host: String?
  private let isMasked: Bool
  private let mayUseICMP: Bool
  private let most: Int
  let limit: Int64
  let objective: [JSON.Member]

  private static let packetsPerHop: UInt64 = 2
  /// The time limit of one packet.
  private static let patience = Duration.milliseconds(1500)
  /// ns from one number of hops to the next: routers limit the rate of their reports.
  private static let step: Int64 = 30_000_000
  /// Numbers of hops with packets under way; each has a socket.
  private static let atOnce = 4
  /// The first port of traceroute by tradition; the number of hops is added to it.
  private static let firstPort: UInt16 = 33434
  /// Bytes of a packet with its headers, and of a router's report of it: as far as they can be known without a capture.
  private static let packetBytes = (sent: 52, received: 56)

  /// - Parameter mayUseICMP: `false` sends UDP, as on a host that does not permit ICMP.
  init(_ parameters: QoSParameters, isMasked: Bool = false, mayUseICMP: Bool = true) {
    host = parameters.text("host")
    (self.isMasked, self.mayUseICMP) = (isMasked, mayUseICMP)
    most = Int(parameters.number("max_hops", in: 1...64) ?? 30)
    limit = parameters.time("timeout", standard: 35_000_000_000)
    objective = parameters.members("traceroute_objective_", "host", "max_hops", "timeout")
  }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> TraceroutePath {
    guard let host else { throw .protocolError("a traceroute without a host") }
    let addresses = try Addresses(host: host, port: 0, family: context.family)
    guard let destination = addresses.list.first?.host else {
      throw .unresolved(NameError(name: host, reason: "it has no address"))
    }
    do {
      if mayUseICMP, let path = try traceByICMP(destination, context) { return path }
      return try trace(destination, byICMP: false, context)
    } catch {
      throw (error as? SpeedTestError) ?? .unreachable("\(error)")
    }
  }

  /// `nil`: this process may not send ICMP.
  private func traceByICMP(_ destination: String, _ context: QoSContext) throws -> TraceroutePath? {
    do {
      return try trace(destination, byICMP: true, context)
    } catch let error as PingerError where [-EACCES, -EPERM].contains(error.code) {
      return nil
    }
  }

  /// Sends packets with 1, 2, 3 ... hops until the path is complete or the time is over.
  /// - Throws: `PingerError` when the kernel refuses a socket.
  private func trace(_ destination: String, byICMP isICMP: Bool, _ context: QoSContext) throws -> TraceroutePath {
    let pinger = try Pinger()
    defer { pinger.shutdown() }
    var path = TraceroutePath(most: most)
    var open: [PingTarget.ID: Int] = [:]
    var (next, due) = (1, context.now)
    let deadline = context.waiting(limit).deadline
    while !path.isComplete, context.now < deadline {
      if context.waiting.clock.isAborted() { throw SpeedTestError.aborted }
      if next <= path.last ?? most, open.count < Self.atOnce, context.now >= due {
        open[try pinger.start(try target(destination, hop: next, byICMP: isICMP, context.interface))] = next
        context.traffic.addSent(Int(Self.packetsPerHop) * Self.packetBytes.sent)
        (next, due) = (next + 1, context.now + Self.step)
      }
      let events = pinger.events.available()
      for event in events {
        guard let hop = open[event.target] else { continue }
        if event.from != nil { context.traffic.addReceived(Self.packetBytes.received) }
        note(event, hop, destination, in: &path)
        if event.kind == .finished { path.giveUp(hop) }
        // Each number of hops has a socket: it is closed as soon as nothing more is to be learnt from it.
        guard path.isKnown(hop) || hop > path.last ?? most else { continue }
        pinger.remove(event.target)
        open[event.target] = nil
      }
      // Times are the pinger's own, so a late look costs no accuracy.
      if events.isEmpty { Thread.sleep(forTimeInterval: 0.005) }
    }
    return path
  }

  private func target(
    _ destination: String, hop: Int, byICMP isICMP: Bool, _ interface: String?
  ) throws(SpeedTestError) -> PingTarget {
    guard let address = PingAddress(numeric: destination, port: isICMP ? 0 : Self.firstPort + UInt16(hop)) else {
      throw .unresolved(NameError(name: destination, reason: "it is no address"))
    }
    var target = PingTarget(
      address: address, echo: isICMP ? .icmp : .rtr(token: [UInt8](repeating: 0, count: 16)),
      interface: interface, interval: .milliseconds(500), timeout: Self.patience, count: Self.packetsPerHop)
    target.hopLimit = UInt8(hop)
    return target
  }

  /// Adds the reply in an event, if it is one, to the path.
  private func note(_ event: PingEvent, _ hop: Int, _ destination: String, in path: inout TraceroutePath) {
    let host = event.from?.host ?? destination
    guard let sent = event.sent, let family = event.from?.family,
      let reply = HopReply(event.kind, family: family, isOfDestination: host == destination)
    else { return }
    var time = Int64(clamping: event.occurred.saturatingSubtracting(sent))
    if case .answered(let roundTrip) = event.kind { time = roundTrip }
    path.reply(reply, to: hop, TraceroutePath.Hop(host: host, time: max(0, time)))
  }

  func members(_ path: TraceroutePath) -> [JSON.Member] {
    let details = path.hops.map { hop in
      JSON.object([
        "host": .string(hop.map { isMasked ? TraceroutePath.masked($0.host) : $0.host } ?? "*"),
        "time": hop.map { .integer($0.time) },
      ])
    }
    return JSON.members([
      "traceroute_result_status": .string(path.status), "traceroute_result_hops": .integer(Int64(details.count)),
      "traceroute_result_details": .array(details),
    ])
  }

  func members(without reason: QoSStatus) -> [JSON.Member] {
    JSON.members(["traceroute_result_status": .string(reason.rawValue)])
  }

  /// TIMEOUT for `MAX_HOPS_EXCEEDED`, which only the members have.
  func status(_ path: TraceroutePath) -> QoSStatus {
    QoSStatus(rawValue: path.status) ?? .timeout
  }
}

/// The hops to a destination, as a value. Replies may come in any order.
struct TraceroutePath: Hashable, Sendable {
  struct Hop: Hashable, Sendable {
    let host: String
    /// ns of the round trip.
    let time: Int64
  }

  /// The first reply by number of hops.
  private var replies: [Int: Hop] = [:]
  /// Numbers of hops whose packets all remained without a reply.
  private var silent: Set<Int> = []
  /// The number of hops of the nearest destination or end of the way; `nil` as long as only routers have replied.
  private(set) var last: Int?
  /// Whether the way ends at `last` without the destination.
  private var isUnreachable = false
  let most: Int

  init(most: Int) { self.most = max(1, most) }

  /// A reply to a packet of `hop` hops. Later ones to the same number of hops change nothing.
  mutating func reply(_ reply: HopReply, to hop: Int, _ entry: Hop) {
    guard (1...most).contains(hop), replies[hop] == nil else { return }
    replies[hop] = entry
    guard reply != .router, hop < last ?? .max else { return }
    last = hop
    isUnreachable = reply == .unreachable
  }

  /// No reply will come to packets of `hop` hops.
  mutating func giveUp(_ hop: Int) { if replies[hop] == nil { silent.insert(hop) } }

  /// Whether a number of hops has a reply or is silent.
  func isKnown(_ hop: Int) -> Bool { replies[hop] != nil || silent.contains(hop) }

  var isComplete: Bool { (1...(last ?? most)).allSatisfy(isKnown) }

  /// The hops to the last one; without a known end, to the last one that replied. `nil`: a silent one.
  var hops: [Hop?] {
    let end = last ?? replies.keys.max() ?? 0
    return end == 0 ? [] : (1...end).map { replies[$0] }
  }

  /// The status of the result. `MAX_HOPS_EXCEEDED`: no end within the largest number of hops.
  var status: String {
    if isUnreachable { return QoSStatus.error.rawValue }
    if last != nil { return QoSStatus.ok.rawValue }
    return isComplete ? "MAX_HOPS_EXCEEDED" : QoSStatus.timeout.rawValue
  }

  /// An address without its last part: the last byte of IPv4, the interface's half of IPv6. `x` for a text that is no address.
  static func masked(_ host: String) -> String {
    var bytes = in6_addr()
    if host.contains(":") {
      let text = host.prefix { $0 != "%" }
      guard inet_pton(AF_INET6, String(text), &bytes) == 1 else { return "x" }
      let half = withUnsafeBytes(of: bytes) { Array($0.prefix(8)) }
      let groups = stride(from: 0, to: 8, by: 2).map { String(Int(half[$0]) << 8 | Int(half[$0 + 1]), radix: 16) }
      return groups.joined(separator: ":") + "::x"
    }
    guard inet_pton(AF_INET, host, &bytes) == 1, let dot = host.lastIndex(of: ".") else { return "x" }
    return host[...dot] + "x"
  }
}

/// The reply to a packet with a limited number of hops.
enum HopReply: Hashable, Sendable {
  /// A router on the way dropped it.
  case router
  /// The destination answered.
  case destination
  /// A router or the destination reports that the packet can go no further.
  case unreachable

  /// `nil` for an event that is no reply.
  init?(_ kind: PingEvent.Kind, family: IPVersion, isOfDestination: Bool) {
    // Time exceeded, and port unreachable, which the destination of a UDP packet sends (RFC 792, RFC 4443).
    let (exceeded, closedPort): (UInt8, (UInt8, UInt8)) = family == .ipv4 ? (11, (3, 3)) : (3, (1, 4))
    switch kind {
    case .answered, .refused: self = .destination
    case .icmpError(exceeded, _): self = .router
    case .icmpError(closedPort.0, closedPort.1) where isOfDestination: self = .destination
    case .icmpError: self = .unreachable
    default: return nil
    }
  }
}
