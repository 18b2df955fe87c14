import Coverage
import Foundation
import GRDB

/// A stored fence with all that the store knows of its origin and of its way to the server.
public struct FenceEvidence: Sendable {
  /// The fence with its session.
  public let stored: StoredFence
  /// The session with the counts of its fences.
  public let session: StoredSession
  /// The request that it belongs to; `nil` before there is one, and when its row is damaged.
  public let batch: Batch?
  /// The log of its drive.
  public let log: StoredDriveLog
  /// Why the drive ended, as it is stored; `nil` while it goes on.
  public let stopReason: String?

  /// A request to the server with its outcome.
  public struct Batch: Hashable, Sendable {
    /// `waiting`, `sending`, `submitted` or `quarantined`.
    public let state: String
    /// The server's name for the test that it was sent to.
    public let test: String?
    /// How many times it was sent.
    public let attempts: Int
    /// When it was last sent.
    public let sent: WallTime?
    /// When the server's answer settled it.
    public let settled: WallTime?
    /// Why the server refused it, in the server's words.
    public let reason: String?
  }
}

/// Names one stored fence.
public enum FenceName: Hashable, Sendable {
  /// By its id, as exports have it.
  case id(Int64)
  /// By the id of its session and its number in the drive, from 0.
  case number(session: Int64, number: Int64)

  /// Reads `ID` or `SESSION:NUMBER`; `nil` for other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Int64($0) }.filter { $0 >= 0 }
    guard numbers.count == parts.count else { return nil }
    switch numbers.count {
    case 1: self = .id(numbers[0])
    case 2: self = .number(session: numbers[0], number: numbers[1])
    default: return nil
    }
  }
}

extension StoreReader {
  /// What the store knows of a fence.
  /// - Returns: `nil` when there is no such fence.
  /// - Throws: ``DamagedFence``, GRDB's `DatabaseError`
  public func evidence(of name: FenceName) throws -> FenceEvidence? {
    let (condition, arguments): (String, StatementArguments) =
      switch name {
      case .id(let id): ("fence.id = ?", [id])
      case .number(let session, let number): ("fence.session_id = ? AND fence.number = ?", [session, number])
      }
    guard let found = try rows("SELECT id, session_id FROM fence WHERE \(condition)", arguments).first else {
      return nil
    }
    let id: Int64 = found["id"]
    guard let sessionID = Int64.fromDatabaseValue(found["session_id"]), let session = try session(id: sessionID),
      let stored = try fences(of: session, "id = ?", [id]).first
    else { throw DamagedFence(id: id) }
    let batch = try rows(
      """
      SELECT state, test_uuid, attempt, sent_at, settled_at, reason FROM intact_batch
      WHERE id = (SELECT batch_id FROM intact_fence WHERE id = ?)
      """, [id]
    ).first.map { row in
      FenceEvidence.Batch(
        state: row["state"], test: row["test_uuid"], attempts: row["attempt"],
        sent: (row["sent_at"] as Int64?).map(WallTime.init(microseconds:)),
        settled: (row["settled_at"] as Int64?).map(WallTime.init(microseconds:)), reason: row["reason"])
    }
    return FenceEvidence(
      stored: stored, session: session, batch: batch,
      log: try driveLogs()[session.drive] ?? StoredDriveLog(name: nil, path: nil),
      stopReason: try value("SELECT stop_reason FROM intact_drive WHERE id = ?", [session.drive]))
  }
}

/// A fence whose row, or that of its session, drive or batch, is damaged: its values are not used.
struct DamagedFence: Error, Hashable, CustomStringConvertible {
  let id: Int64

  /// One line for the operator.
  var description: String {
    "fence \(id) is damaged in the store; the next submit repairs it from the drive log"
  }
}
