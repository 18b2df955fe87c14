import Coverage

/// The state of a loop that survives a restart and a power loss. Its coded form is stored and read by later builds.
///
/// Decoding refuses a value that no loop can have, with a line that names it. Times are microseconds since the loop's start.
public struct LoopMemory: Hashable, Sendable {
  /// The server's name of the loop, as it came; `nil` before the server has named it.
  public internal(set) var loopUUID: String?
  /// The number of the latest test; 0 before the first one. It is the `test_counter` of the latest request.
  public internal(set) var number = 0
  public internal(set) var stage = LoopStage.waiting
  /// Whether time or distance calls for the next test.
  public internal(set) var isDue = true
  /// Whether the operator paused the loop. Only the operator resumes it.
  public internal(set) var isPaused = false
  /// When the latest test started.
  var testStarted: Int64 = 0
  private var latitude: Double?
  private var longitude: Double?
  /// Where the latest test started; `nil` when the place is not known.
  public internal(set) var place: Coordinate? {
    get { latitude.flatMap { latitude in longitude.flatMap { Coordinate(latitude: latitude, longitude: $0) } } }
    set { (latitude, longitude) = (newValue?.latitude, newValue?.longitude) }
  }
  /// The ended tests.
  public internal(set) var tally = LoopTally()
  var notices = LoopNotices()
  /// The bytes that tests used. The next loop continues with it.
  public internal(set) var usage: DataUsage
  /// When this value was last written.
  var stamp: LoopStamp

  init(usage: DataUsage, stamp: LoopStamp) {
    (self.usage, self.stamp) = (usage, stamp)
  }

  /// The usage without a loop.
  init(withoutLoopAt moment: LoopMoment, bootID: String) {
    self.init(
      usage: DataUsage(),
      stamp: LoopStamp(bootID: bootID, boot: moment.boot.inMicroseconds, loop: 0, wall: moment.wall))
    (stage, isDue) = (.ended(.user), false)
  }

  var isOver: Bool { if case .ended = stage { true } else { false } }

  /// The longest accepted name of a loop, in UTF-8 bytes: `L` and a UUID have 37.
  private static let longestName = 64

  /// Whether `name` can be sent back to the server.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= longestName && name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  /// The first member that no loop can have, as text; `nil` when all are possible.
  private var flaw: String? {
    if !(0...LoopRules.counts.upperBound).contains(number) { return "the number of tests is \(number)" }
    if let loopUUID, !Self.isName(loopUUID) { return "the loop's UUID is not printable ASCII of at most 64 characters" }
    if stage == .testing, number == 0 { return "test 0 is running" }
    if stage == .waiting, number == 0, !isDue { return "the first test is not due" }
    let counts = [tally.completed, tally.failed, tally.aborted]
    if !counts.allSatisfy({ $0 >= 0 }) || tally.total != number - (stage == .testing ? 1 : 0) {
      return "\(number) tests started, but \(tally.total) ended"
    }
    if let latitude, let longitude, place == nil { return "its latest test started at \(latitude), \(longitude)" }
    if stamp.loop < 0 || stamp.boot < 0 { return "the loop was written before it began" }
    if !(0...stamp.loop).contains(testStarted) { return "the latest test started outside of the loop" }
    if let last = notices.last, !(0...stamp.loop).contains(last) { return "the last notice is outside of the loop" }
    if let wall = stamp.wall, !WallTime.plausible.contains(wall) { return "the loop was written at an impossible time" }
    return nil
  }
}

extension LoopMemory: Codable {
  private enum CodingKeys: String, CodingKey {
    case loopUUID, number, stage, isDue, isPaused, testStarted, latitude, longitude, tally, notices, stamp
    case usage = "ledger"
  }

  /// - Throws: `DecodingError`; the line of an impossible value names the value.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    loopUUID = try values.decodeIfPresent(String.self, forKey: .loopUUID)
    number = try values.decode(Int.self, forKey: .number)
    stage = try values.decode(LoopStage.self, forKey: .stage)
    isDue = try values.decode(Bool.self, forKey: .isDue)
    isPaused = try values.decode(Bool.self, forKey: .isPaused)
    testStarted = try values.decode(Int64.self, forKey: .testStarted)
    latitude = try values.decodeIfPresent(Double.self, forKey: .latitude)
    longitude = try latitude.map { _ in try values.decode(Double.self, forKey: .longitude) }
    tally = try values.decode(LoopTally.self, forKey: .tally)
    notices = try values.decode(LoopNotices.self, forKey: .notices)
    usage = try values.decode(DataUsage.self, forKey: .usage)
    stamp = try values.decode(LoopStamp.self, forKey: .stamp)
    if let flaw {
      throw DecodingError.dataCorruptedError(
        forKey: .number, in: values, debugDescription: "the stored loop is damaged: \(flaw)")
    }
  }
}

public enum LoopStage: Hashable, Sendable, Codable {
  case waiting
  case testing
  /// It is over. No input leads out of this stage.
  case ended(LoopEnd)
}

/// The ended tests of a loop.
public struct LoopTally: Hashable, Sendable, Codable {
  /// Tests with a result.
  public internal(set) var completed = 0
  /// Tests without a result.
  public internal(set) var failed = 0
  /// Aborted tests.
  public internal(set) var aborted = 0

  /// All ended tests.
  public var total: Int { completed.saturatingAdding(failed).saturatingAdding(aborted) }

  mutating func count(_ result: LoopResult) {
    switch result {
    case .completed: completed = completed.saturatingAdding(1)
    case .failed: failed = failed.saturatingAdding(1)
    }
  }

  mutating func countAbort() { aborted = aborted.saturatingAdding(1) }
}

/// Gives one notice for each kind of hold of a due test, with a least time between any two. A pure value; times are loop times in
/// microseconds.
struct LoopNotices: Hashable, Sendable, Codable {
  /// The holds of the next test that had their notice.
  private(set) var given: Set<LoopHold> = []
  /// When the last notice was given, for whichever test.
  private(set) var last: Int64?

  /// Whether to give the notice of `hold` now.
  mutating func give(_ hold: LoopHold, at now: Int64) -> Bool {
    guard !given.contains(hold), next(hold).map({ $0 <= now }) ?? true else { return false }
    given.insert(hold)
    last = now
    return true
  }

  /// The earliest time for the notice of `hold`; `nil` when it was given or may be given at once.
  func next(_ hold: LoopHold) -> Int64? {
    guard !given.contains(hold), let last else { return nil }
    return last.saturatingAdding(LoopRules.noticeSpacing.inMicroseconds)
  }

  /// A test started: the next one has its own notices.
  mutating func testStarted() { given = [] }
}
