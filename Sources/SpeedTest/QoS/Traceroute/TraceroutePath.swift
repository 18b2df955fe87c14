import Foundation

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

  /// - Parameter most: The largest number of hops.
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

  /// Whether all numbers of hops up to the last one are known.
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
