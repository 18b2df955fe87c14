import Coverage
import GRDB

/// A stored fence with its session.
public struct StoredFence: Hashable, Sendable {
  /// The columns of a fence; ``Fence/columns`` come first.
  static let columns = "\(Fence.columns), fence.id, fence.submitted_at, fence.recovered_at IS NOT NULL, fence.batch_id"

  /// Its id in the store.
  public let id: Int64
  /// The session, with the test and the anchor of the fence's batch: parts of a session can have their own tests.
  /// Both are `nil` when the batch is damaged.
  public let session: StoredSession
  /// The fence; its times relate to the drive's start.
  public let fence: Fence
  /// When the server accepted it; `nil` before.
  public let submitted: WallTime?
  /// Whether it was lost and comes from the drive log: then its id can be any.
  public let isRecovered: Bool

  /// A fence with the given values; the store makes its own from rows.
  public init(id: Int64, session: StoredSession, fence: Fence, submitted: WallTime? = nil, isRecovered: Bool = false) {
    (self.id, self.session, self.fence, self.submitted) = (id, session, fence, submitted)
    self.isRecovered = isRecovered
  }

  /// `nil` for a row with an impossible position, and for an unsent fence whose batch is damaged or missing.
  /// - Parameters:
  ///   - row: With ``columns``.
  ///   - batches: The batches of the session's fences.
  init?(row: Row, session: StoredSession, batches: inout FenceBatches) throws {
    var columns = ColumnReader(row)
    guard let fence = Fence(&columns, driveStarted: session.driveStarted, session: session.session.number) else {
      return nil
    }
    (id, self.fence, submitted, isRecovered) = (columns.next(), fence, columns.time(), columns.next())
    let batch: Int64? = columns.next()
    guard let batch else {
      self.session = session
      return
    }
    let known = try batches.batch(batch)
    guard submitted != nil || known?.isIntact == true else { return nil }
    self.session = known?.session ?? session
  }
}

extension Fence {
  static let columnOfNumber = 0
  /// The columns that ``init(_:driveStarted:session:)`` reads, in its order. A kept fence is one that a server would accept.
  static let columns = [
    "number", "latitude", "longitude", "accuracy_m", "altitude_m", "course_deg", "speed_mps", "entered_at", "exited_at",
    "radius_m", "technology", "pings", "pings_ok", "rtt_sum_ns", "pings_late", "pings_duplicate", "pings_unsent",
    "rtt_min_ns", "rtt_p50_ns", "rtt_p95_ns", "rtt_max_ns", "rtt_bins", "ipdv_mean_ns", "rtt_kernel_mean_ns", "radio",
    "submittable OR fence.kept",
  ].map { "fence.\($0)" }.joined(separator: ", ")

  /// `nil` for a row with an impossible position.
  init?(_ columns: inout ColumnReader, driveStarted: WallTime, session: Int) {
    let number: Int = columns.next()
    let centre = Coordinate(latitude: columns.next(), longitude: columns.next())
    let fix = Fix(
      coordinate: centre, accuracy: columns.next(), altitude: columns.next(), course: columns.next(),
      speed: columns.next())
    guard let centre, let entered = columns.time() else { return nil }
    self.init(
      number: number, session: session, entered: entered.since(driveStarted),
      exited: columns.time()?.since(driveStarted), fix: fix, centre: centre, radius: columns.next(),
      technology: (columns.next() as String?).map(Technology.init), pings: columns.next(),
      pingsAnswered: columns.next(), rttSumNanoseconds: columns.next(), figures: PingFigures(&columns),
      radio: RadioColumn.read(columns.next()), isSubmittable: columns.next())
  }
}

extension PingFigures {
  fileprivate init(_ columns: inout ColumnReader) {
    self.init()
    (late, duplicates, unsent) = (columns.next(), columns.next(), columns.next())
    let times: (Int64?, Int64?, Int64?, Int64?) = (columns.next(), columns.next(), columns.next(), columns.next())
    if let minimum = times.0, let median = times.1, let percentile95 = times.2, let maximum = times.3 {
      roundTrip = Distribution(minimum: minimum, median: median, percentile95: percentile95, maximum: maximum)
    }
    delays = (columns.next() as String?).flatMap(DelayBins.init) ?? DelayBins()
    (meanVariation, kernelMean) = (columns.next(), columns.next())
  }
}
