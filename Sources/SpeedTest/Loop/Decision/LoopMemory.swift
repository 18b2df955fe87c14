import Coverage
import Foundation

/// The state of a loop that survives a restart and a power loss. Its coded form is stored and read by later builds.
///
/// Times are microseconds since the loop's start.
public struct LoopMemory: Hashable, Sendable, Codable {
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
  public internal(set) var tally = LoopTally()
  var notices = LoopNotices()
  /// The bytes that tests used. The next loop continues with it.
  public internal(set) var usage: DataUsage
  /// When this value was last written.
  var stamp: LoopStamp

  private enum CodingKeys: String, CodingKey {
    case loopUUID, number, stage, isDue, isPaused, testStarted, latitude, longitude, tally, notices, stamp
    case usage = "ledger"
  }

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
    if let latitude, place == nil {
      return "its latest test started at \(latitude), \(longitude.map { "\($0)" } ?? "no longitude")"
    }
    if stamp.loop < 0 || stamp.boot < 0 { return "the loop was written before it began" }
    if !(0...stamp.loop).contains(testStarted) { return "the latest test started outside of the loop" }
    if let last = notices.last, !(0...stamp.loop).contains(last) { return "the last notice is outside of the loop" }
    if let wall = stamp.wall, !WallTime.plausible.contains(wall) { return "the loop was written at an impossible time" }
    return nil
  }
}

extension LoopMemory {
  /// Reads the stored form.
  /// - Throws: `DecodingError`, also for a value that no loop can have, which its line names.
  init(stored text: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    if let flaw = usage.flaw {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [CodingKeys.usage, DataUsage.CodingKeys.days], debugDescription: flaw))
    }
    if let flaw {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [CodingKeys.number], debugDescription: "the stored loop is damaged: \(flaw)"))
    }
  }

  /// The form to store.
  var stored: String { get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) } }
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
  public internal(set) var aborted = 0

  public var total: Int { completed.saturatingAdding(failed).saturatingAdding(aborted) }

  mutating func count(hasResult: Bool) {
    if hasResult { completed = completed.saturatingAdding(1) } else { failed = failed.saturatingAdding(1) }
  }

  mutating func countAbort() { aborted = aborted.saturatingAdding(1) }

  /// An aborted test had its result before the abort.
  mutating func countResultOfAborted() {
    guard aborted > 0 else { return }
    aborted -= 1
    count(hasResult: true)
  }
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
