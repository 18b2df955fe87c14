import CPinger
import Coverage
import Glibc

/// What became of one ping, or something about a target.
public struct PingEvent: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    // Verdicts; every ping gets exactly one.
    case answered(rttNanoseconds: Int64)
    case lost(Way)
    /// The server knows the token, but not from this address (RE01).
    case refused(rttNanoseconds: Int64)
    /// A router or host reported that the ping cannot get through.
    case icmpError(type: UInt8, code: UInt8)
    /// The host could not send it; the reason in words.
    case notSent(reason: String)
    /// The host had no time to send `count` pings in a row, this one the first: it stalled or slept.
    case missed(count: UInt64)
    case cancelled
    // What can follow a verdict.
    case late(rttNanoseconds: Int64)
    case duplicate
    /// A reply whose bytes are not what was sent; it counts for nothing.
    case corrupt
    // About a target.
    case finished
    case removed
    /// The reader was too slow; so many events are missing.
    case overflow(count: UInt64)
  }

  /// Where a ping was lost, as far as a one-way reflector's counters tell.
  public enum Way: String, Hashable, Sendable {
    case unknown, up, down
  }

  /// Where a time stamp comes from.
  public enum Stamp: String, Hashable, Sendable {
    case none, kernel, clock
  }

  /// The delay in each direction, by clocks that are not set alike: only differences between two pings mean anything.
  public struct OneWay: Hashable, Sendable {
    public let upNanoseconds: Int64
    public let downNanoseconds: Int64
    /// The far side began anew with this ping: its clock is another one than before.
    public let isRestarted: Bool

    init(upNanoseconds: Int64, downNanoseconds: Int64, isRestarted: Bool = false) {
      (self.upNanoseconds, self.downNanoseconds) = (upNanoseconds, downNanoseconds)
      self.isRestarted = isRestarted
    }
  }

  /// What there is to say of a reply besides its round-trip time.
  public struct Flags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    private init(_ flag: cping_flag) {
      rawValue = flag.rawValue
    }

    /// The wall clock was set while the ping was under way; the kernel's stamps were not used.
    public static let clockStep = Flags(CPING_FLAG_CLOCK_STEP)
    /// The kernel gave no stamp at that end; the clock was read instead, at both.
    public static let noSendStamp = Flags(CPING_FLAG_NO_SEND_STAMP)
    public static let noReceiveStamp = Flags(CPING_FLAG_NO_RECEIVE_STAMP)
    /// The kernel's stamps cannot be true and were not used.
    public static let absurdStamps = Flags(CPING_FLAG_STAMPS_ABSURD)
    /// A later ping of the target was answered before this one.
    public static let reordered = Flags(CPING_FLAG_REORDERED)
    /// What came late or once more was a refusal of the token (RE01).
    public static let refused = Flags(CPING_FLAG_REFUSED)
  }

  public let target: PingTarget.ID
  public let kind: Kind
  /// Number of the ping within its target, from 0.
  public let number: UInt64
  /// The sequence number on the wire.
  public let sequence: UInt32
  /// When the ping was scheduled, in nanoseconds on CLOCK_BOOTTIME: this is the ping's time.
  public let slot: UInt64
  /// When it was sent, on the same clock; `nil`: it never left.
  public let sent: UInt64?
  /// When a reply was read or the verdict reached, on the same clock.
  public let occurred: UInt64
  public let sendStamp: Stamp
  public let receiveStamp: Stamp
  public let flags: Flags
  public let oneWay: OneWay?
  /// Whether a ping is known that it is about; a damaged reply may be of none.
  public let isOfKnownPing: Bool
  /// Who answered or reported.
  public let from: PingAddress?

  init(
    target: PingTarget.ID, kind: Kind, number: UInt64, sequence: UInt32, slot: UInt64, sent: UInt64?, occurred: UInt64,
    sendStamp: Stamp = .kernel, receiveStamp: Stamp = .kernel, flags: Flags = [], oneWay: OneWay? = nil,
    isOfKnownPing: Bool = true, from: PingAddress? = nil
  ) {
    self.target = target
    self.kind = kind
    self.number = number
    self.sequence = sequence
    self.slot = slot
    self.sent = sent
    self.occurred = occurred
    self.sendStamp = sendStamp
    self.receiveStamp = receiveStamp
    self.flags = flags
    self.oneWay = oneWay
    self.isOfKnownPing = isOfKnownPing
    self.from = from
  }

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
    case CPING_NOT_SENT: .notSent(reason: String(cString: strerror(raw.error)))
    case CPING_LATE: .late(rttNanoseconds: raw.rtt_ns)
    case CPING_DUPLICATE: .duplicate
    case CPING_CORRUPT: .corrupt
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

  /// What the fence algorithm makes of it; `nil` for what says nothing about the network: refusals (spec 2.5), pings that
  /// this host did not send for want of time, and all that comes after a verdict.
  public var outcome: PingOutcome? {
    switch kind {
    case .answered(let rtt):
      .answered(
        rttNanoseconds: rtt,
        isKernelStamped: sendStamp == .kernel && receiveStamp == .kernel && !flags.contains(.clockStep))
    case .lost: .failed(.timeout)
    case .icmpError, .notSent: .failed(.network)
    default: nil
    }
  }

  /// The number on the wire; `nil` for a ping that was never built or never left.
  public var sequenceOnWire: UInt32? {
    switch kind {
    case .notSent, .missed: nil
    default: sequence
    }
  }

  /// Whether the target itself has answered something, in time or not. A router's error says nothing of the target.
  public var isSignOfLife: Bool {
    switch kind {
    case .answered, .refused, .late, .duplicate: true
    default: false
    }
  }
}
