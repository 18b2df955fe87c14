/// The time limits of a test, in ns (docs/protocol.md, edge 30).
struct TimeLimits: Hashable, Sendable {
  /// Of one read or write.
  static let read: Int64 = 30_000_000_000
  /// Of the answer to TOKEN: the server may wait 20 s for the start time (edge 7).
  static let token: Int64 = 35_000_000_000
  /// A download is cut off if its last chunk has not come this long after the end of the phase (edge 24).
  static let downloadGrace: Int64 = 3_000_000_000
  /// A server accepts a token for 90 s from its start time. No connection is opened later than this after the start of the test.
  static let reconnect: Int64 = 85_000_000_000
  /// For all but the two main phases: connecting, the token, pre-tests and pings.
  private static let other: Int64 = 60_000_000_000

  /// ns since the look-up of the server's name after which every wait on a socket or barrier ends with an error.
  let whole: Int64

  /// - Parameter duration: ns of a main phase.
  init(duration: Int64) {
    whole = Self.other + 2 * (min(max(duration, 0), 60_000_000_000) + UploadEnd.settling + UploadEnd.longestWait)
  }
}

/// When an upload ends on one thread, as a rule without I/O (docs/protocol.md, 7.5, step 6). On a slow link, bytes written before the
/// end are still under way long after it: the upload need not wait for them.
struct UploadEnd: Sendable {
  /// ns of the upload phase.
  let duration: Int64
  /// ns to wait after the end of the phase before reports are judged (w1).
  static let settling: Int64 = 100_000_000
  /// ns to wait for a report after that: the upload ends then in any case (w2).
  static let longestWait: Int64 = 3_000_000_000
  /// A report suffices that is at most this many ns older than the end of the phase (w3): 1 s, and of a phase shorter than the reference's 7 s
  /// the same share, so that most of it is measured.
  private var tolerance: Int64 { min(1_000_000_000, duration / 7) }

  /// Whether the reports suffice, or the longest wait has passed: then the connection is closed.
  /// - Parameters:
  ///   - elapsed: ns since the common start.
  ///   - written: When the last block was written, in the same ns; `nil` before.
  ///   - report: The time of the server's newest report, in ns since its OK to PUT; `nil` before the first one.
  func isReached(elapsed: Int64, written: Int64?, report: Int64?) -> Bool {
    if elapsed >= duration + Self.settling + Self.longestWait { return true }
    // Without the last block written, the backlog of a slow link is still under way: a report near the end suffices too.
    let since = max(duration, written ?? duration)
    guard elapsed >= since + Self.settling, let report else { return false }
    return report >= duration - tolerance
  }
}

/// When the pings of a test are enough (docs/protocol.md, 7.5, step 3).
struct PingEnd: Sendable {
  /// The number of pings before which ``isReached(by:elapsed:)`` is false, 1 to 200.
  private let least: Int
  /// ns that the pings last at least, unless they are ``most``.
  private static let leastTime: Int64 = 1_000_000_000
  private static let most = 200

  init(least: Int = 10) { self.least = min(max(least, 1), Self.most) }

  /// Whether the least number and 1 s are both reached, or 200 pings are.
  /// - Parameter elapsed: ns since the first PING.
  func isReached(by count: Int, elapsed: Int64) -> Bool {
    count >= Self.most || (count >= least && elapsed >= Self.leastTime)
  }
}
