import CPinger
import Coverage
import Glibc

/// What became of one ping, or something about a target.
public struct PingEvent: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    // Verdicts; every ping gets exactly one.
    case answered(rttNanoseconds: Int64)
    case lost
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
    // About a target.
    case finished
    case removed
    /// The reader was too slow; so many events are missing.
    case overflow(count: UInt64)
  }

  /// Where a time stamp comes from.
  public enum Stamp: String, Hashable, Sendable {
    case none, kernel, clock
  }

  public let target: PingTarget.ID
  public let kind: Kind
  /// Number of the ping within its target, from 0.
  public let number: UInt64
  /// The sequence number on the wire.
  public let sequence: UInt32
  /// When the ping was scheduled, in nanoseconds on CLOCK_BOOTTIME: this is the ping's time.
  public let slot: UInt64
  public let sendStamp: Stamp
  public let receiveStamp: Stamp
  /// Who answered or reported.
  public let from: PingAddress?

  init(_ raw: cping_event) {
    target = raw.target
    number = raw.slot
    sequence = raw.sequence
    slot = raw.slot_ns
    sendStamp = Self.stamp(raw.send_stamp)
    receiveStamp = Self.stamp(raw.receive_stamp)
    from = raw.from.family == 0 ? nil : PingAddress(raw.from)
    kind = Self.kind(raw)
  }

  private static func kind(_ raw: cping_event) -> Kind {
    switch raw.kind {
    case CPING_ANSWERED: .answered(rttNanoseconds: raw.rtt_ns)
    case CPING_LOST: .lost
    case CPING_REFUSED: .refused(rttNanoseconds: raw.rtt_ns)
    case CPING_ICMP_ERROR: .icmpError(type: raw.icmp_type, code: raw.icmp_code)
    case CPING_NOT_SENT where raw.error == ETIME: .missed(count: raw.count)
    case CPING_NOT_SENT: .notSent(reason: String(cString: strerror(raw.error)))
    case CPING_LATE: .late(rttNanoseconds: raw.rtt_ns)
    case CPING_DUPLICATE: .duplicate
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
    case .answered(let rtt): .answered(rttNanoseconds: rtt)
    case .lost: .failed(.timeout)
    case .icmpError, .notSent: .failed(.network)
    default: nil
    }
  }
}
