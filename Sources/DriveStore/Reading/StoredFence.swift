import Coverage
import GRDB

/// A fence as it lies in the store, with the session that it belongs to.
public struct StoredFence: Hashable, Sendable {
  /// With the batch that the fence is in, where it is in one.
  static let columns = """
    fence.*, batch.test_uuid AS batch_test_uuid, batch.anchor_at AS batch_anchor_at,
    batch.id IS NOT NULL AND NOT (\(RowChecksum.isIntact("batch"))) AS is_of_damaged_batch
    """
  /// The condition that it is not damaged, nor its batch. What the server has needs no batch any more, but for its test's name.
  static let isIntact = """
    \(RowChecksum.isIntact("fence"))
      AND (fence.batch_id IS NULL OR fence.submitted_at IS NOT NULL OR \(RowChecksum.isIntact("batch")))
    """

  public let id: Int64
  /// Its test and its anchor are those of the fence: parts of a session can have a test of their own. `nil` where the batch that knew
  /// them is damaged.
  public let session: StoredSession
  public let fence: Fence
  public let submitted: WallTime?

  /// `nil` for a row whose position cannot be, and for a fence that waits in a batch that is damaged or missing.
  /// - Parameter batches: The batches of the session's fences, by id.
  init?(row: Row, session: StoredSession, batches: [Int64: StoredFences.Batch]) {
    guard let fence = Fence(row, driveStarted: session.driveStarted, session: session.session.number) else {
      return nil
    }
    let number: Int64? = row["batch_id"]
    let batch = number.flatMap { batches[$0] }
    let submitted: Int64? = row["submitted_at"]
    guard number == nil || submitted != nil || batch?.isIntact == true else { return nil }
    id = row["id"]
    self.session =
      switch batch {
      case nil: session
      case let batch? where batch.isIntact:
        session.with(test: batch.test, anchor: batch.anchor.map { $0.since(session.driveStarted) })
      case .some: session.withoutTest
      }
    self.fence = fence
    self.submitted = submitted.map(WallTime.init(microseconds:))
  }

  /// `nil` for a row whose position cannot be: damaged, and of no use to anyone.
  init?(row: Row, session: StoredSession) {
    guard let fence = Fence(row, driveStarted: session.driveStarted, session: session.session.number) else {
      return nil
    }
    id = row["id"]
    if row["is_of_damaged_batch"] {
      self.session = session.withoutTest
    } else {
      let anchor = (row["batch_anchor_at"] as Int64?).map { WallTime(microseconds: $0).since(session.driveStarted) }
      self.session = session.with(test: row["batch_test_uuid"], anchor: anchor)
    }
    self.fence = fence
    submitted = (row["submitted_at"] as Int64?).map(WallTime.init(microseconds:))
  }
}

extension Fence {
  /// `nil` for a row whose position cannot be.
  init?(_ row: Row, driveStarted: WallTime, session: Int) {
    func time(_ column: String) -> DriveTime? {
      (row[column] as Int64?).map { WallTime(microseconds: $0).since(driveStarted) }
    }
    guard let centre = Coordinate(latitude: row["latitude"], longitude: row["longitude"]),
      let entered = time("entered_at")
    else { return nil }
    self.init(
      number: row["number"], session: session, entered: entered, exited: time("exited_at"),
      fix: Fix(
        coordinate: centre, accuracy: row["accuracy_m"], altitude: row["altitude_m"], course: row["course_deg"],
        speed: row["speed_mps"]),
      centre: centre, radius: row["radius_m"], technology: (row["technology"] as String?).map(Technology.init),
      pings: row["pings"], pingsAnswered: row["pings_ok"], rttSumNanoseconds: row["rtt_sum_ns"],
      figures: PingFigures(row), isSubmittable: row["submittable"])
  }
}

extension StoredSession {
  func with(test: String?, anchor: DriveTime?) -> StoredSession {
    guard let test, let anchor, test != session.testUUID || anchor != session.anchor else { return self }
    return replacing(test: test, anchor: anchor)
  }

  /// For a fence of which nobody knows to which test it went.
  var withoutTest: StoredSession { replacing(test: nil, anchor: nil) }

  private func replacing(test: String?, anchor: DriveTime?) -> StoredSession {
    var changed = self
    changed.session = Session(
      number: session.number, testUUID: test, started: session.started, anchor: anchor, finalized: session.finalized)
    return changed
  }
}

extension PingFigures {
  fileprivate init(_ row: Row) {
    self.init()
    late = row["pings_late"]
    duplicates = row["pings_duplicate"]
    if let minimum = row["rtt_min_ns"] as Int64?, let median = row["rtt_p50_ns"] as Int64?,
      let percentile95 = row["rtt_p95_ns"] as Int64?, let maximum = row["rtt_max_ns"] as Int64?
    {
      roundTrip = Distribution(minimum: minimum, median: median, percentile95: percentile95, maximum: maximum)
    }
    meanVariation = row["ipdv_mean_ns"]
    kernelMean = row["rtt_kernel_mean_ns"]
  }
}
