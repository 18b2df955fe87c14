import Testing

@testable import Store

/// When the write-ahead log is copied into the store.
struct CheckpointScheduleTests {
  private let start = ContinuousClock.now

  /// The seconds at which a write asks, and those of them at which the log is copied.
  private static let stories: [(asked: [Double], copied: [Double])] = [
    (asked: [0, 60, 119.999], copied: []),
    (asked: [120], copied: [120]),
    (asked: [4, 119.999, 120, 120, 121, 239.999, 240], copied: [120, 240]),
    // After a long silence the next copy is due two minutes after the late one.
    (asked: [1000, 1080, 1119, 1120], copied: [1000, 1120]),
    // Asking does not move the next copy.
    (asked: [110, 119, 121, 230, 241], copied: [121, 241]),
  ]

  @Test(
    "when writes follow each other, then the log is copied at the first one two minutes after the last copy",
    arguments: stories)
  func due(_ story: (asked: [Double], copied: [Double])) {
    var schedule = CheckpointSchedule(startingAt: start)
    let copied = story.asked.filter { schedule.isDue(at: start + .seconds($0)) }
    #expect(copied == story.copied)
  }
}
