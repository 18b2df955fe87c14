import Coverage
import Networking

/// Counts, once a second, why a drive sends no pings. A pure value.
struct Silence: Hashable, Sendable {
  /// The kinds of reasons. A reason's text can change each second, with the time that is left until the next try.
  fileprivate enum Cause: Int {
    case wifi, clock, refusal, network, unsent, earlyEnd, test
  }

  private struct Span: Hashable {
    var seconds = 0
    var reason: String
  }

  private var spans: [Cause: Span] = [:]
  private var last: Cause?

  /// The conditions that can prevent pings at one moment.
  struct Situation: Sendable {
    var path: Path
    /// The link; `nil` before it is known.
    var network: PathReading?
    var isClockTrusted: Bool
    /// The ping server refused the token, and has answered no ping since.
    var isRefused: Bool
    /// The last trouble with a request for a test, or with pings on it.
    var trouble: String?
    /// Why this host could not send the last ping.
    var sendTrouble: String?
    /// Pings are being sent.
    var isPinging = false

    var reason: String { cause.reason }

    fileprivate var cause: (Cause, reason: String) {
      if path == .wifi { return (.wifi, network?.remedy ?? "it was on Wi-Fi") }
      if !isClockTrusted { return (.clock, "the host's clock is not set, so no test was requested") }
      if isRefused { return (.refusal, "the ping server refused the token (RE01)") }
      if path == .offline { return (.network, "there was no network\(network.map { " (\($0))" } ?? "")") }
      if let sendTrouble { return (.unsent, sendTrouble) }
      if isPinging { return (.earlyEnd, "it ended before the first ping was answered or lost") }
      return (.test, trouble ?? "there was no test from the control server yet")
    }
  }

  mutating func note(_ situation: Situation) {
    let (cause, reason) = situation.cause
    spans[cause, default: Span(reason: reason)].seconds += 1
    spans[cause]?.reason = reason
    last = cause
  }

  /// The reason that lasted longest, in its latest words; if several did, the latest one.
  var reason: String? {
    guard let most = spans.values.map(\.seconds).max() else { return nil }
    let longest = spans.filter { $0.value.seconds == most }
    if let last, let span = longest[last] { return span.reason }
    return longest.min { $0.key.rawValue < $1.key.rawValue }?.value.reason
  }
}
