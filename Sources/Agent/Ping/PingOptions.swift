import Coverage
import Driving
import Foundation
import Pinging

/// How to ping, the same for all targets of a run.
public struct PingOptions: Hashable, Sendable {
  public enum PingProtocol: Hashable, Sendable {
    case icmp
    /// Without a token one of this moment that no secret has signed.
    case rtr(port: UInt16, token: [UInt8]?)
    case oneWay(port: UInt16)
  }

  public enum Family: Hashable, Sendable { case ipv4, ipv6 }

  /// The kind of socket that ICMP echoes leave by; `any`: datagram, and raw where that is not permitted.
  public enum Socket: Hashable, Sendable { case any, datagram, raw }

  public enum Format: Hashable, Sendable {
    case text, json
    /// Nothing but summaries.
    case quiet
  }

  public var pingProtocol = PingProtocol.icmp
  public var family: Family?
  public var socket = Socket.any
  public var interface: String?
  /// A numeric address of this host that pings carry.
  public var source: String?
  /// Interface and source need not be there yet; until they are, pings are not sent.
  public var awaitsInterface = false
  public var interval: Duration = .seconds(1)
  public var timeout: Duration = .seconds(1)
  /// 0: until the run is stopped.
  public var count: UInt64 = 0
  /// Ends the run; pings under way are cancelled.
  public var deadline: Duration?
  /// After the last verdict, how long to wait for replies that come late.
  public var linger: Duration = .zero
  public var floodWindow: UInt32?
  public var size: UInt16?
  public var isFragmentationForbidden = false
  public var hopLimit: UInt8?
  public var trafficClass: UInt8 = 0
  public var mark: UInt32 = 0
  public var format = Format.text
  /// So many pings in a row without an answer are an outage.
  public var leastOutage: UInt64 = 3
  /// Says how the pings are scheduled.
  public var isVerbose = false
  /// SCHED_FIFO, where permitted, for floods too; pings at fixed times have it anyway.
  public var isRealtime = false
  /// At most so many pings are remembered after their verdict; `nil`: as many as the pinger does by itself.
  public var remembered: UInt32?
  /// Pingers with a thread of their own, among which the targets are dealt out.
  public var threads = 1
  /// Where the pings are captured as packets; `nil`: nowhere.
  public var capture: CaptureSettings?

  public init() {}

  /// The 16 bytes of a ping token in Base64; `nil` for anything else.
  public static func token(_ base64: String) -> [UInt8]? {
    Data(base64Encoded: base64).flatMap { $0.count == 16 ? [UInt8]($0) : nil }
  }
}

// MARK: What the pinger is told

extension PingOptions {
  /// What all pingers of the run have in common.
  var pinger: Pinger.Options {
    var options = Pinger.Options()
    // A flood leaves its processor to nobody; who wants that has to say so.
    options.isRealtime = isRealtime || floodWindow == nil
    if let remembered { options.remembered = remembered }
    options.memory = max(options.memory, linger)
    return options
  }

  /// How often what became of pings is read: several a second are shown a few at a time, since each hand-over from thread to thread
  /// costs more than a ping; `nil`: each at once, and of a flood what there is.
  func gathering(targets: Int) -> Duration? {
    // From 5 to 100 a second.
    guard floodWindow == nil, interval <= .milliseconds(200), interval / max(1, targets) >= .milliseconds(10) else {
      return nil
    }
    return min(interval * 4, .milliseconds(400))
  }

  /// - Parameter source: ``source``, resolved.
  func target(at address: PingAddress, from source: PingAddress?) -> PingTarget {
    var target = PingTarget(
      address: address, echo: echo, interface: interface, interval: interval, timeout: timeout, count: count)
    target.socket =
      switch socket {
      case .any: .any
      case .datagram: .datagram
      case .raw: .raw
      }
    target.awaitsInterface = awaitsInterface
    target.floodWindow = floodWindow
    target.size = size
    target.isFragmentationForbidden = isFragmentationForbidden
    target.hopLimit = hopLimit
    target.trafficClass = trafficClass
    target.mark = mark
    target.source = source
    return target
  }

  var addressFamily: PingAddress.Family? { family.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

  var port: UInt16 {
    switch pingProtocol {
    case .icmp: 0
    case .rtr(let port, _), .oneWay(let port): port
    }
  }

  private var echo: PingTarget.Echo {
    switch pingProtocol {
    case .icmp: .icmp
    case .oneWay: .oneWay
    case .rtr(_, let token?): .rtr(token: token)
    case .rtr(_, nil): .rtr(token: Self.unsignedToken)
    }
  }

  /// A token of this moment that no secret has signed.
  private static var unsignedToken: [UInt8] {
    let seconds = UInt32(clamping: WallTime.current.microseconds / 1_000_000)
    return withUnsafeBytes(of: seconds.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
  }
}
