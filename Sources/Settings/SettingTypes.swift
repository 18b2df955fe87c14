import Coverage

/// When the service makes speed tests: `agent.loop`.
public enum LoopMode: String, Hashable, Sendable, CaseIterable {
  /// Never.
  case off
  /// While it records.
  case withDrive = "with-drive"
}

/// When the service records without a command: `agent.record`.
public enum RecordingRule: String, Hashable, Sendable, CaseIterable {
  /// From its start to its end.
  case always
  /// While the device moves.
  case moving
  /// On command only.
  case command
}

/// What coverage pings do during a speed test: `speedtest.coverage-pings`.
public enum CoveragePings: String, Hashable, Sendable, CaseIterable {
  /// They pause, so that no fence has delays under the test's load.
  case pause
  /// They go on; the drive log marks them.
  case `continue`
}

/// A circle round a place that no record may show, such as the driver's home: `privacy.exclusion-zones`.
public struct ExclusionZone: Hashable, Sendable {
  /// The centre of the circle.
  public let centre: Coordinate
  /// Metres; the configuration accepts those above 0, at most 100000.
  public let radius: Double
}
