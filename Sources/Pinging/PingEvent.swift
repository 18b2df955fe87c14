import CPinger
import Coverage
import Glibc

/// The verdict on a ping, a reply after the verdict, or an event of a target.
public struct PingEvent: Hashable, Sendable {
  /// The kinds of events.
  public enum Kind: Hashable, Sendable {
    // Verdicts. Every ping gets exactly one.

    /// Answered in time.
    case answered(rttNanoseconds: Int64)
    /// Not answered in time.
    case lost(Way)
    /// The ping server refused the token from this address (RE01).
    case refused(rttNanoseconds: Int64)
    /// A router or host reported with an ICMP error that the ping was not delivered.
    case icmpError(type: UInt8, code: UInt8)
    /// The send call failed.
    case notSent(SendFailure)
    /// This host stalled or slept and did not send `count` pings in a row; the event belongs to the first one.
    case missed(count: UInt64)
    /// The target was removed before the ping was answered.
    case cancelled

    // Replies after a verdict.

    /// An answer after the timeout.
    case late(rttNanoseconds: Int64)
    /// A second or further answer.
    case duplicate
    /// A reply whose bytes differ from those that were sent. It is ignored.
    case corrupt
    /// An answer from another address than the ping's, as of a host with several addresses. It is ignored.
    case elsewhere

    // Events of a target.

    /// The target has sent all its pings, and all have a verdict.
    case finished
    case removed
    /// The reader was too slow: `count` events were dropped.
    case overflow(count: UInt64)
  }

  /// The direction in which a ping was lost, by the counters of a one-way reflector.
  public enum Way: String, Hashable, Sendable {
    case unknown, up, down
  }

  /// The source of a time stamp.
  public enum Stamp: String, Hashable, Sendable {
    case none, kernel, clock
  }

  /// The delay in each direction. The clocks of the two ends are not synchronised, so only differences between two pings are meaningful.
  public struct OneWay: Hashable, Sendable {
    /// From this host to the far end, plus the unknown offset of the far end's clock.
    public let upNanoseconds: Int64
    /// From the far end to this host, minus the same offset.
    public let downNanoseconds: Int64
    /// Whether the far end restarted before this ping: its clock has another offset than before.
    public internal(set) var isRestarted = false
  }

  /// Properties of a reply beside its round-trip time.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits, `cping_flag` of cpinger.h.
    public let rawValue: UInt32

    /// The flags of the given bits.
    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    private init(_ flag: cping_flag) {
      rawValue = flag.rawValue
    }

    /// The wall clock was set while the ping was under way, so the kernel's stamps were not used.
    public static let clockStep = Flags(CPING_FLAG_CLOCK_STEP)
    /// The kernel gave no stamp of the request; both times were read from the clock instead.
    public static let noSendStamp = Flags(CPING_FLAG_NO_SEND_STAMP)
    /// The kernel gave no stamp of the reply; both times were read from the clock instead.
    public static let noReceiveStamp = Flags(CPING_FLAG_NO_RECEIVE_STAMP)
    /// The kernel's stamps are impossible and were not used.
    public static let absurdStamps = Flags(CPING_FLAG_STAMPS_ABSURD)
    /// A later ping of the target was answered before this one.
    public static let reordered = Flags(CPING_FLAG_REORDERED)
    /// The late or duplicate reply was a refusal of the token (RE01).
    public static let refused = Flags(CPING_FLAG_REFUSED)
  }

  public let target: PingTarget.ID
  /// The kind of event, with its values.
  public let kind: Kind
  /// The number of the ping within its target, from 0.
  public let number: UInt64
  /// The sequence number on the wire.
  public let sequence: UInt32
  /// The scheduled time of the ping, which counts as its time, in nanoseconds on CLOCK_BOOTTIME.
  public let slot: UInt64
  /// When the ping was sent, on the same clock; `nil`: it was not sent.
  public let sent: UInt64?
  /// When a reply was read or the verdict reached, on the same clock.
  public let occurred: UInt64
  /// The source of the request's time stamp.
  public internal(set) var sendStamp = Stamp.kernel
  /// The source of the reply's time stamp.
  public internal(set) var receiveStamp = Stamp.kernel
  /// Properties of the reply.
  public internal(set) var flags: Flags = []
  /// The delays in each direction; `nil` without a one-way reflector.
  public internal(set) var oneWay: OneWay?
  /// Whether the event belongs to a known ping; `false` for some damaged replies.
  public internal(set) var isOfKnownPing = true
  /// The sender of the reply or of the ICMP error.
  public internal(set) var from: PingAddress?
  /// The TTL or hop limit with which a reply arrived, 1 to 255; `nil`: unknown (``PingTarget/reportsHopLimit``).
  public internal(set) var hopLimit: UInt8?
  /// Of an ICMP error about a ping that is too big, and of a ping that was not sent for that reason: the MTU of the link that it did not
  /// fit, in bytes; `nil`: not reported.
  public internal(set) var mtu: UInt32?
}

extension PingEvent {
  init(_ raw: cping_event) {
    func has(_ flag: cping_flag) -> Bool { raw.flags & flag.rawValue != 0 }
    target = raw.target
    number = raw.slot
    sequence = raw.sequence
    slot = raw.slot_ns
    sent = raw.sent_ns == 0 ? nil : raw.sent_ns
    occurred = raw.event_ns
    sendStamp = Self.stamp(raw.send_stamp)
    receiveStamp = Self.stamp(raw.receive_stamp)
    flags = Flags(rawValue: raw.flags)
    oneWay =
      UInt32(raw.far_stamp) == CPING_STAMP_NONE.rawValue
      ? nil
      : OneWay(upNanoseconds: raw.up_ns, downNanoseconds: raw.down_ns, isRestarted: raw.far_restarted != 0)
    isOfKnownPing = raw.kind != CPING_CORRUPT || raw.sent_ns != 0
    from = raw.from.family == 0 ? nil : PingAddress(raw.from)
    hopLimit = raw.ttl == 0 ? nil : raw.ttl
    mtu = raw.mtu == 0 ? nil : raw.mtu
    let way: Way = has(CPING_FLAG_LOST_UP) ? .up : has(CPING_FLAG_LOST_DOWN) ? .down : .unknown
    kind = Self.kind(raw, way)
  }

  private static func kind(_ raw: cping_event, _ way: Way) -> Kind {
    switch raw.kind {
    case CPING_ANSWERED: .answered(rttNanoseconds: raw.rtt_ns)
    case CPING_LOST: .lost(way)
    case CPING_REFUSED: .refused(rttNanoseconds: raw.rtt_ns)
    case CPING_ICMP_ERROR: .icmpError(type: raw.icmp_type, code: raw.icmp_code)
    case CPING_NOT_SENT where raw.error == ETIME: .missed(count: raw.count)
    case CPING_NOT_SENT: .notSent(SendFailure(code: raw.error))
    case CPING_LATE: .late(rttNanoseconds: raw.rtt_ns)
    case CPING_DUPLICATE: .duplicate
    case CPING_CORRUPT: .corrupt
    case CPING_ELSEWHERE: .elsewhere
    case CPING_FINISHED: .finished
    case CPING_REMOVED: .removed
    case CPING_OVERFLOW: .overflow(count: raw.count)
    default: .cancelled
    }
  }

  private static func stamp(_ raw: UInt8) -> Stamp {
    switch UInt32(raw) {
    case CPING_STAMP_KERNEL.rawValue: .kernel
    case CPING_STAMP_CLOCK.rawValue: .clock
    default: .none
    }
  }

  /// The outcome for the engine; `nil` for events that do not count in a fence: refusals (docs/algorithm.md, 4),
  /// replies after a verdict, and events of targets. A ping that was not sent can be lost instead (``UnsentPing``).
  public var outcome: PingOutcome? {
    switch kind {
    case .answered(let rtt):
      .answered(
        rttNanoseconds: rtt,
        isKernelStamped: sendStamp == .kernel && receiveStamp == .kernel && !flags.contains(.clockStep))
    case .lost: .failed(.timeout)
    case .icmpError: .failed(.network)
    case .notSent: .unsent()
    case .missed(let count): .unsent(count: Int(clamping: count))
    default: nil
    }
  }

  /// The sequence number on the wire; `nil` for a ping that was not sent.
  public var sequenceOnWire: UInt32? {
    switch kind {
    case .notSent, .missed: nil
    default: sequence
    }
  }

  /// Whether it is an ICMP error that nothing listens at the port (RFC 792; RFC 4443, 3.1).
  public var isPortUnreachable: Bool {
    guard case .icmpError(let type, let code) = kind else { return false }
    return from?.family == .ipv6 ? (type, code) == (1, 4) : (type, code) == (3, 3)
  }

  /// Whether the event shows that the target is alive: it answered, in time or not. A router's ICMP error does not show that.
  public var isSignOfLife: Bool {
    switch kind {
    case .answered, .refused, .late, .duplicate: true
    default: false
    }
  }
}
