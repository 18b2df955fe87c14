/// What coverage pings do during a speed test: `speedtest.coverage-pings`.
public enum CoveragePings: String, Hashable, Sendable, CaseIterable {
  /// They pause, so that no fence has delays under the test's load.
  case pause
  /// They go on; the drive log marks them.
  case `continue`
}
