import Coverage
import Store

/// The fences that the server has, by its histories. A pure value.
struct ServerFences: Sendable {
  /// The result for one batch by the histories.
  enum Finding: Hashable, Sendable {
    case absent
    case arrived(fences: Int)
    /// Part of it may have arrived: it must not be sent again.
    case quarantine(reason: String)
    /// It stays quarantined: the server has this many fences of its test; `nil`: it may have them, and the history does not show it.
    case staysQuarantined(fences: Int?)
  }

  /// Batches whose history could not be read.
  private(set) var unread: [(batches: [Batch], failure: ServerFailure)] = []
  /// Tests whose use is recorded in the store.
  var knownTests: Set<String> = []
  /// How many fences the store assigns to each test, by session; for the sessions of batches whose rows were lost.
  var fencesByTest: [Int64: [String: Int]] = [:]
  /// The sizes of the batches whose rows were lost and whose test is unknown, by session.
  var lostSizes: [Int64: [Int]] = [:]
  /// The tests whose fences the server has, by their UUIDs in lower case.
  private var tests: [String: HistoryItem] = [:]
  /// Client UUIDs that the server does not know.
  private var strangers: Set<String> = []

  private static let noHistory =
    "it may have been sent before, and the server has no history of this device that could show it"

  var testCount: Int { tests.count }

  mutating func add(_ reading: HistoryReading) {
    tests.merge(reading.tests, uniquingKeysWith: HistoryItem.fuller)
  }

  mutating func add(stranger client: String) { strangers.insert(client) }

  mutating func add(unread batches: [Batch], _ failure: ServerFailure) { unread.append((batches, failure)) }

  func finding(for batch: Batch, isForced: Bool) -> Finding {
    guard let test = batch.testInQuestion, let item = tests[test.lowercased()] else { return .absent }
    guard let held = item.fences else {
      return isForced && batch.state == .quarantined
        ? .absent : .quarantine(reason: "the server has test \(test), and does not say how many of its fences")
    }
    guard held > 0 else { return .absent }
    let ours = batch.sentFences ?? batch.fences
    if held == ours { return .arrived(fences: held) }
    guard batch.state == .quarantined else {
      return .quarantine(reason: "the server has \(counted(held, "fence")) of test \(test), and \(ours) were sent")
    }
    return isForced ? .absent : .staysQuarantined(fences: held)
  }

  /// The finding for a batch that may have been sent. If its row was lost, it may be on the server under a test that
  /// the store does not know.
  func finding(forDoubtful batch: Batch, isForced: Bool) -> Finding {
    let finding = finding(for: batch, isForced: isForced)
    // A history that lacks it is no proof: the server can have lost the history, or the client.
    if finding == .absent, batch.isQuarantinedInDoubt, !isForced { return .staysQuarantined(fences: nil) }
    guard finding == .absent, batch.isLost else { return finding }
    if let surplus = surplus(for: batch) { return surplus }
    guard let reason = reasonToDoubt(batch) else { return finding }
    return .quarantine(reason: reason)
  }

  /// The finding for a batch that the server refuses, or whose test it refuses as not started. If the server does not know the client
  /// either, it may be another server, or one that lost the client with its history. Then a batch that may have been
  /// sent gets no new test, unless the operator forces it.
  func finding(forUnstarted batch: Batch, isForced: Bool) -> Finding {
    let finding = finding(for: batch, isForced: isForced)
    guard finding == .absent, batch.attempt > 0, let client = batch.client, strangers.contains(client) else {
      return finding
    }
    return .quarantine(reason: Self.noHistory)
  }

  /// If the server has more fences of a test of the session than the store assigns to it, the fences of the batch are among them: damage has
  /// taken the record that they were sent. Two batches of the right size are both quarantined: only one of them can have arrived.
  private func surplus(for batch: Batch) -> Finding? {
    for (test, ours) in (fencesByTest[batch.session] ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard let held = tests[test]?.fences, held > ours else { continue }
      let isOnlyOne = (lostSizes[batch.session] ?? []).count { $0 == batch.fences } <= 1
      return held - ours == batch.fences && isOnlyOne
        ? .arrived(fences: batch.fences)
        : .quarantine(
          reason:
            "the server has \(counted(held, "fence")) of test \(test), and the store has \(ours) of them: these may be the others"
        )
    }
    return nil
  }

  /// Why a batch whose row was lost may be on the server under an unknown test; `nil` when that is impossible.
  private func reasonToDoubt(_ batch: Batch) -> String? {
    guard let client = batch.client, !strangers.contains(client) else { return Self.noHistory }
    // Fences of the batch may have been damaged since, but none was added.
    let suspect = tests.first { uuid, test in
      (test.fences ?? 0) >= batch.fences && !knownTests.contains(uuid)
        && (test.time ?? .max) >= Self.earliestTest(of: batch)
    }
    return suspect.map { uuid, test in
      "it may have been sent before: the server has \(counted(test.fences ?? 0, "fence")) of test \(uuid), and the store does not say which ones"
    }
  }

  /// The earliest creation time of a test that the batch can have been sent to, in milliseconds. A drive requests its
  /// test before its fences, and uses it for hours.
  private static func earliestTest(of batch: Batch) -> Int64 {
    batch.earliest.earlier(by: .seconds(86_400)).milliseconds
  }
}
