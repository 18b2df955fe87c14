import Coverage
import Foundation

@testable import Settings
@testable import Submission

/// Configuration files, and values of command lines: durations, sizes.
enum ConfigurationFiles: FuzzTarget {
  static let seeds = [
    """
    state-directory: /var/lib/elsewhere
    control-server: { url: "https://host/RMBTControlServer/", ca-file: null, request-timeout: 30s }
    gpsd: { host: 127.0.0.1, port: 2948, device: null, stale-after: 2500ms }
    location: { accuracy-limit: 12.5, minimum-radius: 20, maximum-speed: 83.5, warning-after: 3s, give-up-after: 30m }
    pings: { interval: 200ms, timeout: 1s, interface: wwan0, ip-version: 6 }
    recovery: { failure-threshold: 31, backoff: 10s, backoff-max: 120s, prepare-timeout: 15s, retry-delay: 2s }
    """,
    """
    network: { source: fixed-wifi }
    radio: { source: "fixed:4G/LTE" }
    submission: { max-age: 7d, keep: 30d, legacy-threshold: 15m, breaker: { threshold: 4, backoff: 30s, backoff-max: 300s } }
    storage: { max-size: 512M, max-fences: 20000 }
    drive: { maximum-duration: 4h, log: false }
    agent: { record: moving, start-speed: 2.5, rest: 5m, resend-interval: 15m }
    """,
    """
    links:
      - { name: A, interface: wwan0, radio: none, network: auto }
      - { name: B, interface: wwan1 }
    privacy:
      exclusion-zones:
        - { latitude: 48.2, longitude: 16.3, radius: 200 }
    """,
    "250ms", "7d", "64M", "1G", "",
  ].map { Array($0.utf8) }

  static var words: [String] {
    Setting.all.flatMap { [$0.key + ": ", ($0.key.split(separator: ".").last ?? "") + ": "] }
      + [
        "ms", "9223372036854775807", "1000000000d", "1e308", "-0", "nan", "inf", "null", "~", "- ", "{ ", " }", "&a ",
        "*a", "\n  ",
      ]
  }

  private static let path = "/dev/shm/fuzz-configuration-\(getpid())"

  static func run(_ input: [UInt8]) {
    read(text: String(decoding: input, as: UTF8.self))
    guard FileManager.default.createFile(atPath: path, contents: Data(input)) else { return }
    guard let configuration = load() else { return }
    use(configuration)
  }

  private static func read(text: String) {
    if let duration = DurationText.duration(text) {
      _ = DriveTime(duration) + duration
      _ = duration.inNanoseconds
    }
    _ = SizeText.bytes(text)
  }

  private static func load() -> ProbeConfiguration? {
    do {
      return try ProbeConfiguration.load(file: path, environment: [:])
    } catch {
      _ = "\(error)"
      return nil
    }
  }

  private static func use(_ configuration: ProbeConfiguration) {
    var engine = Engine(parameters: configuration.parameters)
    let centre = Coordinate(latitude: 48.2, longitude: 16.3)
    _ = engine.handle(Event(at: .start + .seconds(1), .fix(Fix(coordinate: centre, accuracy: 5, speed: 12))))
    _ = engine.handle(Event(at: .start + .seconds(2), .ping(.answered(rttNanoseconds: 31_000_000))))
    _ = engine.advance(to: .start + .seconds(86_400))
    for fence in engine.fences { _ = Sent.text(fence, of: engine) }
    let submission = configuration.submission
    var breaker = CircuitBreaker(
      policy: CircuitBreaker.Policy(
        threshold: submission.breakerThreshold, backoff: submission.breakerBackoff,
        backoffMax: submission.breakerBackoffMax))
    var backoff = Backoff(base: submission.backoff, cap: submission.backoffMax)
    for second in 0..<40 {
      let now: Duration = .seconds(second * 100_000)
      if let call = breaker.begin(at: now, force: true) {
        breaker.end(call, .tooManyRequests(retryAfter: nil), at: now, jitter: 1)
      }
      backoff.failed(at: now, random: 1)
    }
  }
}
