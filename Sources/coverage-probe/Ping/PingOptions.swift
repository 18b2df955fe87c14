import Coverage
import Driving
import Foundation
import Pinging

/// The settings of a `ping` run, the same for all its targets.
struct PingOptions: Hashable, Sendable {
  enum Format: Hashable, Sendable {
    case text, json
  }

  struct Output: Hashable, Sendable {
    var format = Format.text
    /// Summaries only.
    var isQuiet = false
    /// Whether to print how the pings are scheduled.
    var isVerbose = false
  }

  /// The settings of each target. Its address has only the port; names and ``source`` are resolved at the start of the run.
  var target = PingTarget(address: .unresolved(port: 0), echo: .icmp, interval: .seconds(1))
  /// The IP version of resolved names; `nil`: either.
  var family: IPVersion?
  /// The source address of the pings, or its name; `nil`: the kernel's choice.
  var source: String?
  /// Ends the run, and cancels the pings under way; `nil`: no limit.
  var deadline: Duration?
  /// How long to wait for late replies after the last verdict.
  var linger: Duration = .zero
  var output = Output()
  /// This many pings in a row without an answer are an outage.
  var leastOutage: UInt64 = 3
  /// SCHED_FIFO for floods too, where permitted; pings at fixed intervals always use it.
  var isRealtime = false
  /// The most pings that are remembered after their verdict; `nil`: the pinger's default.
  var remembered: UInt32?
  /// The number of pingers, each with its own thread; the targets are distributed over them.
  var threads = 1
  /// Where the packets of the pings are captured; `nil`: nowhere.
  var capture: CaptureSettings?

  /// The 16 bytes of a ping token from Base64; `nil` for any other text.
  static func token(_ base64: String) -> [UInt8]? {
    Data(base64Encoded: base64).flatMap { $0.count == 16 ? [UInt8]($0) : nil }
  }

  /// A ping token of the present time without a valid signature. A server without a secret refuses it (RE01); others stay silent.
  static var unsignedToken: [UInt8] {
    let seconds = UInt32(clamping: WallTime.current.microseconds / 1_000_000)
    return withUnsafeBytes(of: seconds.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
  }

  var pinger: Pinger.Options {
    var options = Pinger.Options()
    // A flood can occupy a whole processor, so real-time scheduling needs the operator's request.
    options.isRealtime = isRealtime || target.floodWindow == nil
    if let remembered { options.remembered = remembered }
    options.memory = max(options.memory, linger)
    return options
  }

  /// The interval between reads of ping events, when several arrive each second: reading each at once would cost more
  /// processor time than the ping. `nil`: read each event at once, and those of a flood as they come.
  func gathering(targets: Int) -> Duration? {
    // From 5 to 100 a second.
    guard target.floodWindow == nil, target.interval <= .milliseconds(200),
      target.interval / max(1, targets) >= .milliseconds(10)
    else { return nil }
    return min(target.interval * 4, .milliseconds(400))
  }
}
