import Coverage
import Driving
import Foundation
import Pinging

/// The settings of a `ping` run, the same for all its targets.
public struct PingOptions: Hashable, Sendable {
  /// The kind of packet.
  public enum PingProtocol: Hashable, Sendable {
    case icmp
    /// The UDP ping of RTR (docs/protocol.md). Without a token, each ping carries a token of the present time without
    /// a signature.
    case rtr(port: UInt16, token: [UInt8]?)
    case oneWay(port: UInt16)
  }

  /// The version of the internet protocol.
  public enum Family: Hashable, Sendable { case ipv4, ipv6 }

  /// The kind of socket for ICMP echoes. `any`: datagram, or raw where datagram sockets are not permitted.
  public enum Socket: Hashable, Sendable { case any, datagram, raw }

  /// The format of the output.
  public enum Format: Hashable, Sendable {
    case text, json
    /// Summaries only.
    case quiet
  }

  /// The kind of packet.
  public var pingProtocol = PingProtocol.icmp
  /// The IP version of resolved names; `nil`: either.
  public var family: Family?
  /// The kind of socket for ICMP echoes.
  public var socket = Socket.any
  /// The name of the interface that pings leave by; `nil`: any.
  public var interface: String?
  /// The source address of the pings, a numeric address of this host; `nil`: the kernel's choice.
  public var source: String?
  /// Whether a run may begin before the interface and the source address exist; pings wait for them.
  public var awaitsInterface = false
  /// Time between two pings to the same target.
  public var interval: Duration = .seconds(1)
  /// A ping without an answer within this time counts as lost.
  public var timeout: Duration = .seconds(1)
  /// Pings to each target; 0: until the run is stopped.
  public var count: UInt64 = 0
  /// Ends the run, and cancels the pings under way; `nil`: no limit.
  public var deadline: Duration?
  /// How long to wait for late replies after the last verdict.
  public var linger: Duration = .zero
  /// Flood: send a ping for each answer, with at most this many under way; `nil`: at fixed intervals.
  public var floodWindow: UInt32?
  /// Bytes of payload (ICMP) or of the datagram (one-way format); `nil`: the default of the protocol.
  public var size: UInt16?
  /// Whether routers must not fragment the pings.
  public var isFragmentationForbidden = false
  /// TTL or hop limit; `nil`: the kernel's default.
  public var hopLimit: UInt8?
  /// The traffic class byte: DSCP and ECN.
  public var trafficClass: UInt8 = 0
  /// The mark for policy routing; 0: none.
  public var mark: UInt32 = 0
  /// The format of the output.
  public var format = Format.text
  /// This many pings in a row without an answer are an outage.
  public var leastOutage: UInt64 = 3
  /// Whether to print how the pings are scheduled.
  public var isVerbose = false
  /// SCHED_FIFO for floods too, where permitted; pings at fixed intervals always use it.
  public var isRealtime = false
  /// The most pings that are remembered after their verdict; `nil`: the pinger's default.
  public var remembered: UInt32?
  /// The number of pingers, each with its own thread; the targets are distributed over them.
  public var threads = 1
  /// Where the packets of the pings are captured; `nil`: nowhere.
  public var capture: CaptureSettings?

  /// ICMP, once a second, without a limit.
  public init() {}

  /// The 16 bytes of a ping token from Base64; `nil` for any other text.
  public static func token(_ base64: String) -> [UInt8]? {
    Data(base64Encoded: base64).flatMap { $0.count == 16 ? [UInt8]($0) : nil }
  }
}

// MARK: The pinger's options

extension PingOptions {
  /// The options of each pinger of the run.
  var pinger: Pinger.Options {
    var options = Pinger.Options()
    // A flood can occupy a whole processor, so real-time scheduling needs the operator's request.
    options.isRealtime = isRealtime || floodWindow == nil
    if let remembered { options.remembered = remembered }
    options.memory = max(options.memory, linger)
    return options
  }

  /// The interval between reads of ping events, when several arrive each second: reading each at once would cost more
  /// processor time than the ping. `nil`: read each event at once, and those of a flood as they come.
  func gathering(targets: Int) -> Duration? {
    // From 5 to 100 a second.
    guard floodWindow == nil, interval <= .milliseconds(200), interval / max(1, targets) >= .milliseconds(10) else {
      return nil
    }
    return min(interval * 4, .milliseconds(400))
  }

  /// - Parameters:
  ///   - address: The target's address.
  ///   - source: ``source``, resolved.
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

  /// A token of the present time without a signature.
  private static var unsignedToken: [UInt8] {
    let seconds = UInt32(clamping: WallTime.current.microseconds / 1_000_000)
    return withUnsafeBytes(of: seconds.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
  }
}
