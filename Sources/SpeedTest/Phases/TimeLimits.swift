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

  /// ns since the start of the test after which every wait on a socket or barrier ends with an error.
  let whole: Int64

  /// - Parameter duration: ns of a main phase.
  init(duration: Int64) {
    whole = Self.other + 2 * (min(max(duration, 0), 60_000_000_000) + UploadEnd.settling + UploadEnd.longestWait)
  }
}
