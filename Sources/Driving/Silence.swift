import Coverage
import NetworkPath

/// Why a drive has not pinged, noted once a second while that is so. A pure value.
struct Silence: Hashable, Sendable {
  private var seconds: [String: Int] = [:]
  private var last: String?

  /// What keeps a drive from pinging at one moment.
  struct Situation: Sendable {
    var path: Path
    /// The link; `nil` before it is known.
    var network: PathReading?
    var isClockTrusted: Bool
    /// The ping server's last word was that it refuses the token.
    var isRefused: Bool
    /// The last trouble with getting a test, or with pinging on it.
    var trouble: String?
    /// Pings are under way.
    var isPinging = false

    var reason: String {
      if path == .wifi { return network?.remedy ?? "it was on Wi-Fi" }
      if !isClockTrusted { return "the host's clock is not set, so no test was requested" }
      if isRefused { return "the ping server refused the token (RE01)" }
      if path == .offline { return "there was no network\(network.map { " (\($0))" } ?? "")" }
      if isPinging { return "it ended before the first ping was answered or lost" }
      return trouble ?? "there was no test from the control server yet"
    }
  }

  mutating func note(_ situation: Situation) {
    let reason = situation.reason
    seconds[reason, default: 0] += 1
    last = reason
  }

  /// The reason that lasted longest; of several the last one.
  var reason: String? {
    guard let most = seconds.values.max() else { return nil }
    if let last, seconds[last] == most { return last }
    return seconds.filter { $0.value == most }.keys.min()
  }
}
