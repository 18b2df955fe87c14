/// When an upload ends on one thread (speed test spec, section 5, step 6): the waits w1, w2 and w3.
struct UploadEnd: Sendable {
  enum Verdict: Hashable, Sendable {
    case goOn
    /// The reports suffice, or no more is to be expected. The connection is given up.
    case giveUp
  }

  /// ns of the phase.
  let duration: Int64
  static let w1: Int64 = 100_000_000
  static let w2: Int64 = 3_000_000_000
  static let w3: Int64 = 1_000_000_000

  /// - Parameters:
  ///   - elapsed: ns since the common start.
  ///   - written: When the last block was written, in the same ns; `nil` before.
  ///   - report: The newest report of the server in its ns.
  func verdict(elapsed: Int64, written: Int64?, report: Int64?) -> Verdict {
    if elapsed >= duration + Self.w1 + Self.w2 { return .giveUp }
    // Without the last block written, the backlog of a slow link is still under way: a report near the end suffices too.
    let since = max(duration, written ?? duration)
    guard elapsed >= since + Self.w1, let report else { return .goOn }
    return report >= duration - Self.w3 ? .giveUp : .goOn
  }
}
