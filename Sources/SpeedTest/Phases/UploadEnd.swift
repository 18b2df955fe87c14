/// When an upload ends on one thread, as a rule without I/O (docs/protocol.md, 7.5, step 6). On a slow link, bytes written before the
/// end are still under way long after it: the upload need not wait for them.
struct UploadEnd: Sendable {
  enum Verdict: Hashable, Sendable {
    case goOn
    /// The reports suffice, or the longest wait has passed. The connection is closed.
    case giveUp
  }

  /// ns of the upload phase.
  let duration: Int64
  /// ns to wait after the end of the phase before reports are judged (w1).
  static let settling: Int64 = 100_000_000
  /// ns to wait for a report after that: the upload ends then in any case (w2).
  static let longestWait: Int64 = 3_000_000_000
  /// A report suffices that is at most this many ns older than the end of the phase (w3): 1 s, and of a phase shorter than the reference's 7 s
  /// the same share, so that most of it is measured.
  private var tolerance: Int64 { min(1_000_000_000, duration / 7) }

  /// - Parameters:
  ///   - elapsed: ns since the common start.
  ///   - written: When the last block was written, in the same ns; `nil` before.
  ///   - report: The time of the server's newest report, in ns since its OK to PUT; `nil` before the first one.
  func verdict(elapsed: Int64, written: Int64?, report: Int64?) -> Verdict {
    if elapsed >= duration + Self.settling + Self.longestWait { return .giveUp }
    // Without the last block written, the backlog of a slow link is still under way: a report near the end suffices too.
    let since = max(duration, written ?? duration)
    guard elapsed >= since + Self.settling, let report else { return .goOn }
    return report >= duration - tolerance ? .giveUp : .goOn
  }
}
