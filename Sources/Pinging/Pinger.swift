import CPinger
import Coverage
import Glibc

/// Sends pings on an exact time grid and reports the verdict on each: the Swift face of CPinger.
///
/// Each instance has one thread for its sockets and timers. Events arrive in batches.
public final class Pinger: Sendable {
  /// The C instance. Its functions that are called here can be called from any thread.
  private struct Handle: @unchecked Sendable {
    let pinger: OpaquePointer
  }

  /// The settings of a pinger for all its targets.
  public struct Options: Hashable, Sendable {
    /// The number of events that can wait for the reader before events are dropped; at most ``largestEventCapacity``.
    public var eventCapacity: UInt32 = 4096
    /// How long a ping is remembered after its timeout, so that late and duplicate replies are recognised.
    public var memory: Duration = .seconds(10)
    /// The largest number of pings that are remembered after their verdict, at least 1; some 130 bytes each.
    public var remembered: UInt32 = 65_536
    /// Whether to request SCHED_FIFO; ``Pinger/scheduling`` shows whether it was permitted.
    public var isRealtime = false

    /// The upper limit of ``eventCapacity``.
    public static let largestEventCapacity: UInt32 = 1 << 20

    public init() {}

    fileprivate var raw: cping_options {
      var options = cping_options()
      options.ring_capacity = eventCapacity
      options.linger_ns = UInt64(max(0, memory.inNanoseconds))
      options.remembered = remembered
      options.flags = isRealtime ? CPING_OPTION_REALTIME.rawValue : 0
      return options
    }
  }

  /// The scheduling of the pinger's thread.
  public enum Scheduling: Hashable, Sendable {
    /// The default policy.
    case usual
    case fifo
    /// SCHED_FIFO was requested and refused; the reason is for the operator.
    case notPermitted(reason: String)
  }

  /// The events of all targets, for one reader.
  public let events: PingEvents
  /// The scheduling of the pinger's thread.
  public let scheduling: Scheduling

  private let handle: Handle

  /// Starts the thread.
  /// - Throws: ``PingerError`` when the host lacks memory, threads or descriptors.
  public init(_ options: Options = Options()) throws(PingerError) {
    var pinger: OpaquePointer?
    var raw = options.raw
    let status = cping_create(&raw, &pinger)
    guard status >= 0, let pinger else { throw PingerError(code: status) }
    handle = Handle(pinger: pinger)
    events = PingEvents(inbox: PingInbox(pinger))
    var environment = cping_environment()
    cping_get_environment(pinger, &environment)
    scheduling =
      switch environment.realtime {
      case 0: .usual
      case 1: .fifo
      default: .notPermitted(reason: String(cString: strerror(-environment.realtime)))
      }
  }

  /// Opens the sockets of `target` and sends its first ping at `firstSlot`, on the clock of ``now``; `nil`: as soon as possible.
  /// - Throws: ``PingerError`` for a missing privilege, interface or address, and for settings outside of their ranges.
  public func start(_ target: PingTarget, at firstSlot: UInt64? = nil) throws(PingerError) -> PingTarget.ID {
    let id = try add(target)
    try begin(id, at: firstSlot)
    return id
  }

  /// Opens the sockets of `target` without sending a ping, so that the caller can prepare for the first one (see ``state(of:)``).
  /// - Throws: as ``start(_:at:)``
  public func add(_ target: PingTarget) throws(PingerError) -> PingTarget.ID {
    var raw = target.raw
    let id = cping_add(handle.pinger, &raw)
    guard id > 0 else { throw PingerError(code: CInt(id), target: raw) }
    return id
  }

  /// Sends the first ping of an added target, at `firstSlot` or as soon as possible.
  /// - Throws: ``PingerError``; the target is then removed.
  public func begin(_ id: PingTarget.ID, at firstSlot: UInt64? = nil) throws(PingerError) {
    let status = cping_start(handle.pinger, id, firstSlot ?? 0)
    guard status >= 0 else {
      cping_remove(handle.pinger, id)
      throw PingerError(code: status)
    }
  }

  /// The state of a target now; `nil` for an unknown target.
  public func state(of id: PingTarget.ID) -> PingTargetState? {
    var info = cping_target_info()
    guard cping_inspect(handle.pinger, id, &info) >= 0 else { return nil }
    return PingTargetState(localPort: info.local_port, slots: info.slots, underWay: info.pending)
  }

  /// Sends the following pings to another address of the same family. Replies from the former address still count.
  /// - Throws: ``PingerError``; the address is then unchanged.
  public func redirect(_ id: PingTarget.ID, to address: PingAddress) throws(PingerError) {
    var raw = address.raw
    let status = cping_redirect(handle.pinger, id, &raw)
    guard status >= 0 else { throw PingerError(code: status) }
  }

  /// Ends sending. Pings under way still get their verdict.
  public func stop(_ id: PingTarget.ID) { cping_stop(handle.pinger, id) }

  /// Removes the target. The verdict on pings under way is ``PingEvent/Kind/cancelled``.
  public func remove(_ id: PingTarget.ID) { cping_remove(handle.pinger, id) }

  /// Ends all targets. ``events`` ends behind the last event.
  public func shutdown() { cping_shutdown(handle.pinger) }

  /// The present time in nanoseconds on CLOCK_BOOTTIME, the clock of all times in ``PingEvent``.
  public static var now: UInt64 { cping_now() }

  deinit { cping_shutdown(handle.pinger) }
}

/// The state of a target at one moment.
public struct PingTargetState: Hashable, Sendable {
  /// UDP: the local port. ICMP: the echo identifier.
  public let localPort: UInt16
  /// The number of pings so far, including those that were not sent.
  public let slots: UInt64
  /// The number of pings without a verdict.
  public let underWay: UInt64
}

/// The events of a pinger, in order of occurrence. A slow reader slows floods down.
///
/// Only one task can read. The sequence ends after ``Pinger/shutdown()``, and when the reading task is cancelled.
public struct PingEvents: AsyncSequence, Sendable {
  /// An event of a ping or a target.
  public typealias Element = PingEvent

  let inbox: PingInbox

  /// The iterator; all iterators share the events.
  public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

  /// The events so far, without waiting; can be empty. For a reader that polls instead of iterating.
  public func available() -> ArraySlice<PingEvent> { inbox.available() }

  /// Reads events in batches.
  public struct Iterator: AsyncIteratorProtocol {
    let inbox: PingInbox
    private var batch: ArraySlice<PingEvent> = []

    init(inbox: PingInbox) { self.inbox = inbox }

    /// The next event; `nil` at the end.
    public mutating func next() async -> PingEvent? {
      if batch.isEmpty { batch = await nextBatch() ?? [] }
      return batch.popFirst()
    }

    /// The events so far, at least one; `nil` at the end.
    public mutating func nextBatch() async -> ArraySlice<PingEvent>? {
      guard batch.isEmpty else {
        defer { batch = [] }
        return batch
      }
      return await inbox.next()
    }
  }
}
