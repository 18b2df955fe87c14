import Testing

@testable import Settings

/// Durations and sizes as operators write them.
struct UnitTextTests {
  @Test(
    "when a duration has a unit, then the unit scales it",
    arguments: [
      ("0s", Duration.zero), ("250ms", .milliseconds(250)), ("10s", .seconds(10)), ("5m", .seconds(300)),
      ("4h", .seconds(14_400)), ("7d", .seconds(604_800)), ("1000000000d", .seconds(86_400_000_000_000)),
    ] as [(String, Duration)])
  func duration(text: String, expected: Duration) {
    #expect(DurationText.duration(text) == expected)
  }

  @Test(
    "when a text is not digits and a unit, then it is refused as a duration",
    arguments: ["", "5", "s", "5 s", "5S", "5sec", "-5s", "+5s", "1.5s", "1e3s", "5w", "٣s", "1000000001ms"])
  func noDuration(text: String) {
    #expect(DurationText.duration(text) == nil)
  }

  @Test(
    "when seconds are written, then they have the largest unit that divides them",
    arguments: [
      (0.0, "0s"), (0.25, "250ms"), (1, "1s"), (1.5, "1500ms"), (1.001, "1001ms"), (59, "59s"), (60, "1m"), (90, "90s"),
      (3600, "1h"),
      (5400, "90m"), (86_400, "1d"), (90_000, "25h"),
    ] as [(Double, String)])
  func durationText(seconds: Double, expected: String) {
    #expect(DurationText.text(seconds) == expected)
  }

  @Test(
    "when a size has a unit, in either case, then the unit scales it; without a unit it is in bytes",
    arguments: [
      ("0", 0), ("1023", 1023), ("64K", 65_536), ("16m", 16_777_216), ("1G", 1_073_741_824),
      ("8589934591G", 9_223_372_035_781_033_984),
    ] as [(String, UInt64)])
  func size(text: String, expected: UInt64) {
    #expect(SizeText.bytes(text) == expected)
  }

  @Test(
    "when a text is not digits with or without a unit, then it is refused as a size",
    arguments: ["", "K", "1 K", "1KB", "1T", "-1", "+1", "1.5G", "0x10", "8589934592", "99999999999999999999G"])
  func noSize(text: String) {
    #expect(SizeText.bytes(text) == nil)
  }

  @Test(
    "when bytes are written, then they have the largest unit that divides them",
    arguments: [
      (0, "0"), (1, "1"), (1023, "1023"), (1024, "1K"), (1025, "1025"), (1536, "1536"), (1_048_576, "1M"),
      (1_572_864, "1536K"), (1 << 30, "1G"), (3 << 29, "1536M"), (1024 << 30, "1024G"),
    ] as [(Int64, String)])
  func sizeText(bytes: Int64, expected: String) {
    #expect(SizeText.text(bytes) == expected)
  }
}
