import Coverage

/// The coverage drive beside a speed test: it pauses or marks its pings.
public protocol TestCompanion: Sendable {
  /// A test begins.
  func testBegan()
  /// The test loads the link in this part; `nil`: it does not load it now.
  func test(loads part: SpeedTestDelay.Part?)
  /// The test has ended.
  /// - Returns: The delays of the coverage pings without load and under it.
  func testEnded() async -> [SpeedTestDelay]
}
