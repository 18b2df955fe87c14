import Coverage
import NetworkPath

/// Counts, once a second, why a drive sends no pings. A pure value.
struct Silence: Hashable, Sendable {
  private var seconds: [String: Int] = [:]
  private var last: String?

  /// What prevents pings at one moment.
  struct Situation: Sendable {
    var path: Path
    /// The link; `nil` before it is known.
    var network: PathReading?
    var isClockTrusted: Bool
    /// The ping server refused the token, and has answered no ping since.
    var isRefused: Bool
    /// The last trouble with a request for a test, or with pings on it.
    var trouble: String?
    /// Pings are being sent.
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

  /// The reason that lasted longest; if several did, the latest one.
  var reason: String? {
    guard let most = seconds.values.max() else { return nil }
    if let last, seconds[last] == most { return last }
    return seconds.filter { $0.value == most }.keys.min()
  }
}
