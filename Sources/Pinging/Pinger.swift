import CPinger
import Coverage
import Glibc

/// Sends pings on an exact time grid and tells what became of each: the Swift face of CPinger.
///
/// One instance has one thread of its own for sockets and time; events arrive in batches.
public final class Pinger: Sendable {
  /// What holds for all targets of a pinger.
  public struct Options: Hashable, Sendable {
    /// Events that wait for a reader who is slow before some are lost; at most ``largestEventCapacity``.
    public var eventCapacity: UInt32 = 4096
    /// How long after its timeout a ping is remembered, so that a reply is known as late or repeated.
    public var memory: Duration = .seconds(10)
    /// At most so many pings are remembered after their verdict, some 130 bytes each; at least 1.
    public var remembered: UInt32 = 65_536
    /// Asks for SCHED_FIFO; ``Pinger/scheduling`` says whether it was permitted.
    public var isRealtime = false

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

  /// How the pinger's thread is scheduled.
  public enum Scheduling: Hashable, Sendable {
    case usual
    case fifo
    /// SCHED_FIFO was asked for, and the host does not permit it; the reason in words.
    case notPermitted(reason: String)
  }

  public let events: PingEvents
  public let scheduling: Scheduling

  private let handle: Handle

  /// - Throws: ``PingerError`` when the host does not let it start.
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

  /// Opens what `target` needs and sends its first ping at `firstSlot`, by ``now``; as soon as possible when that is `nil`.
  /// - Throws: ``PingerError``
  public func start(_ target: PingTarget, at firstSlot: UInt64? = nil) throws(PingerError) -> PingTarget.ID {
    let id = try add(target)
    try begin(id, at: firstSlot)
    return id
  }

  /// Opens what `target` needs and sends nothing yet, so that others can make ready for its first ping (see ``state(of:)``).
  /// - Throws: ``PingerError``
  public func add(_ target: PingTarget) throws(PingerError) -> PingTarget.ID {
    var raw = target.raw
    let id = cping_add(handle.pinger, &raw)
    guard id > 0 else { throw PingerError(code: CInt(id), target: raw) }
    return id
  }

  /// Sends the first ping of a target that was added, at `firstSlot` or as soon as possible.
  /// - Throws: ``PingerError``; then the target is forgotten.
  public func begin(_ id: PingTarget.ID, at firstSlot: UInt64? = nil) throws(PingerError) {
    let status = cping_start(handle.pinger, id, firstSlot ?? 0)
    guard status >= 0 else {
      cping_remove(handle.pinger, id)
      throw PingerError(code: status)
    }
  }

  /// What the target is at just now; `nil` when there is none of that number.
  public func state(of id: PingTarget.ID) -> PingTargetState? {
    var info = cping_target_info()
    guard cping_inspect(handle.pinger, id, &info) >= 0 else { return nil }
    return PingTargetState(localPort: info.local_port, slots: info.slots, underWay: info.pending)
  }

  /// Pings another address of the same family from the next ping on; replies to pings that went to the one before still
  /// count.
  /// - Throws: ``PingerError``; then the address stays as it was.
  public func redirect(_ id: PingTarget.ID, to address: PingAddress) throws(PingerError) {
    var raw = address.raw
    let status = cping_redirect(handle.pinger, id, &raw)
    guard status >= 0 else { throw PingerError(code: status) }
  }

  /// No pings until ``resume(_:)``; those under way still get their verdict.
  public func pause(_ id: PingTarget.ID) { cping_pause(handle.pinger, id) }
  public func resume(_ id: PingTarget.ID) { cping_resume(handle.pinger, id) }

  /// No more pings; those under way still get their verdict.
  public func stop(_ id: PingTarget.ID) { cping_stop(handle.pinger, id) }

  /// Forgets the target; pings under way end as cancelled.
  public func remove(_ id: PingTarget.ID) { cping_remove(handle.pinger, id) }

  /// Ends all targets; ``events`` ends when the last event has been read.
  public func shutdown() { cping_shutdown(handle.pinger) }

  /// Nanoseconds on CLOCK_BOOTTIME, the clock of all times of ``PingEvent``.
  public static var now: UInt64 { cping_now() }

  deinit { cping_shutdown(handle.pinger) }
}

/// The C instance; the functions that are called through it may be called from any thread.
private struct Handle: @unchecked Sendable {
  let pinger: OpaquePointer
}

/// The host does not let the pinger do something.
public struct PingerError: Error, Hashable, CustomStringConvertible {
  /// A negative errno.
  public let code: CInt
  /// What is missing, in one sentence.
  public let description: String

  init(code: CInt) {
    self.code = code
    description = String(cString: cping_explain(code))
  }

  /// - Parameter target: What could not be opened; the host is asked what it lacks for just that.
  init(code: CInt, target: cping_target) {
    self.code = code
    var text = [CChar](repeating: 0, count: 512)
    let found = withUnsafePointer(to: target) { cping_diagnose($0, &text, text.count) }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    description =
      found < 0 && !bytes.isEmpty ? String(decoding: bytes, as: UTF8.self) : String(cString: cping_explain(code))
  }
}
