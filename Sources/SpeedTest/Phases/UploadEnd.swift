/// When an upload ends on one thread (speed test spec, section 5, step 6).
struct UploadEnd: Sendable {
  enum Verdict: Hashable, Sendable {
    case goOn
    /// The reports suffice, or no more is to be expected. The connection is given up.
    case giveUp
  }

  /// ns of the phase.
  let duration: Int64
  /// ns after the end of the phase before a report counts (w1).
  static let settling: Int64 = 100_000_000
  /// ns to wait for a report after that (w2).
  static let longestWait: Int64 = 3_000_000_000
  /// ns before the end of the phase of which the newest report may be (w3).
  static let tolerance: Int64 = 1_000_000_000

  /// - Parameters:
  ///   - elapsed: ns since the common start.
  ///   - written: When the last block was written, in the same ns; `nil` before.
  ///   - report: The newest report of the server in its ns.
  func verdict(elapsed: Int64, written: Int64?, report: Int64?) -> Verdict {
    if elapsed >= duration + Self.settling + Self.longestWait { return .giveUp }
    // Without the last block written, the backlog of a slow link is still under way: a report near the end suffices too.
    let since = max(duration, written ?? duration)
    guard elapsed >= since + Self.settling, let report else { return .goOn }
    return report >= duration - Self.tolerance ? .giveUp : .goOn
  }
}
