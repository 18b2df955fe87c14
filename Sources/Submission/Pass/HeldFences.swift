import ControlServer
import Coverage
import DriveStore

/// The fences that the server holds, by its histories. A pure value.
struct HeldFences: Sendable {
  /// What the histories say about one batch.
  enum Finding: Hashable, Sendable {
    /// The server does not have it.
    case absent
    case arrived(fences: Int)
    /// Some of it may have arrived: it must not be sent again.
    case quarantine(reason: String)
    /// It is quarantined and stays so: the server holds this many fences of its test.
    case staysQuarantined(fences: Int)
  }

  /// Batches whose history could not be read.
  private(set) var unread: [(batches: [Batch], failure: ServerFailure)] = []
  /// Tests of which the store knows which fences they were used for.
  var knownTests: Set<String> = []
  /// The tests whose fences the server holds, by their UUIDs in lower case.
  private var tests: [String: HistoryItem] = [:]
  /// Client UUIDs that the server does not know.
  private var strangers: Set<String> = []

  private static let noHistory =
    "it may have left before, and the server has no history of this device from then to tell"

  /// The tests that the histories list.
  var testCount: Int { tests.count }

  mutating func add(_ reading: HistoryReading) {
    tests.merge(reading.tests) { $0.fences > $1.fences ? $0 : $1 }
  }

  /// The server does not know `client`.
  mutating func add(stranger client: String) { strangers.insert(client) }

  mutating func add(unread batches: [Batch], _ failure: ServerFailure) { unread.append((batches, failure)) }

  /// - Parameter isForced: Whether the operator wants quarantined batches sent whatever the server holds.
  func finding(for batch: Batch, isForced: Bool) -> Finding {
    guard let test = batch.testInQuestion, let held = tests[test.lowercased()]?.fences, held > 0 else {
      return .absent
    }
    let ours = batch.sentFences ?? batch.fences
    if held == ours { return .arrived(fences: held) }
    guard batch.state == .quarantined else {
      return .quarantine(reason: "the server has \(held) fences of test \(test), and \(ours) were sent")
    }
    return isForced ? .absent : .staysQuarantined(fences: held)
  }

  /// The finding for a batch that may have left: one whose row was lost may be at the server under a test that the store does not know.
  func finding(forDoubtful batch: Batch, isForced: Bool) -> Finding {
    let finding = finding(for: batch, isForced: isForced)
    guard finding == .absent, batch.isLost, let reason = reasonToDoubt(batch) else { return finding }
    return .quarantine(reason: reason)
  }

  /// The finding for a batch whose test the server does not know as a started one. When the server does not know the sender either, it may be
  /// another server, or have forgotten the sender with its history: a batch that may have left before goes to no new test then,
  /// unless the operator says so.
  func finding(forUnstarted batch: Batch, isForced: Bool) -> Finding {
    let finding = finding(for: batch, isForced: isForced)
    guard finding == .absent, batch.attempt > 0, let client = batch.client, strangers.contains(client) else {
      return finding
    }
    return .quarantine(reason: Self.noHistory)
  }

  /// Why a batch whose row was lost may be at the server under an unknown test; `nil` when it cannot be.
  private func reasonToDoubt(_ batch: Batch) -> String? {
    guard let client = batch.client, !strangers.contains(client) else { return Self.noHistory }
    // Other fences of the batch may be damaged meanwhile, but none came to it.
    let suspect = tests.first { uuid, test in
      test.fences >= batch.fences && !knownTests.contains(uuid) && (test.time ?? .max) >= Self.earliestTest(of: batch)
    }
    return suspect.map { uuid, test in
      "it may have left before: the server has \(test.fences) fences of test \(uuid), which nothing else in the store accounts for"
    }
  }

  /// When the first of the tests was made that the batch can have gone to, in milliseconds: a drive's test lasts for hours, and is made before
  /// the drive's fences.
  private static func earliestTest(of batch: Batch) -> Int64 {
    batch.earliest.earlier(by: .seconds(86_400)).milliseconds
  }
}
