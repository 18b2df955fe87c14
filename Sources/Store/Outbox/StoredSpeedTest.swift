import Coverage
import Foundation
import GRDB

/// A speed test of the store.
public struct StoredSpeedTest: Hashable, Sendable, Identifiable {
  /// How the test ended.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// It has all figures that a control server asks for.
    case completed
    /// It ended by itself without them.
    case failed
    /// It was ended from outside.
    case aborted
  }

  /// The state of a test, as `sessions --speed-tests` lists it.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It is running, or a process that is gone was running it.
    case measuring
    /// It has ended, and the server does not know yet.
    case waiting
    /// It may have been sent, and the result is not known.
    case sending
    /// The server has it.
    case submitted
    /// The server refused it; it stays stored, and is sent again on command only.
    case quarantined
  }

  /// The row number in the store.
  public let id: Int64
  /// The control server's URL without user information.
  public let controlServer: String
  /// The client UUID that requested the test.
  public let clientUUID: String
  /// The server's identifier of the test.
  public let testUUID: String
  /// The token of the test, as the server issued it.
  public let token: String
  /// The loop that it belongs to; `nil` for a single test.
  public let loopUUID: String?
  /// The number in the loop, from 1; `nil` for a single test.
  public let number: Int?
  /// The drive that was being recorded; `nil` for none.
  public let drive: Int64?
  /// When the server made it, by the selected clock.
  public let started: WallTime
  /// When it ended; `nil` while it is running.
  public let ended: WallTime?
  /// How it ended; `nil` while it is running.
  public let outcome: Outcome?
  /// Whether the server has it.
  public let state: State
  /// How often it was sent.
  public let attempt: Int
  /// Answers of a server in trouble, which say nothing about it.
  public let troubles: Int
  /// When it was last sent.
  public let sent: WallTime?
  /// Why the server refused it.
  public let reason: String?
  /// Why it failed or was aborted.
  public let error: String?
  /// The technology during the test.
  public let technology: Technology?
  /// The place where it began.
  public let place: Coordinate?
  /// The figures; `nil` when the test has none, or a later build wrote them in another form.
  public let figures: SpeedTestFigures?
  /// The results of its QoS tests, a JSON array as the server takes them; `nil` without any.
  public let qos: String?
  /// Whether the server has the results of its QoS tests; `nil` without any.
  public let qosState: State?
  /// The identity of the store, a UUID.
  public internal(set) var store: String?

  static let columns =
    "id, control_server, client_uuid, test_uuid, test_token, loop_uuid, number, drive_id, started_at, ended_at, "
    + "outcome, state, attempt, troubles, sent_at, reason, error, technology, latitude, longitude, figures, qos, qos_state, "
    + "(SELECT uuid FROM intact_identity)"

  /// - Parameter row: An intact row with ``columns``.
  init?(row: Row) {
    var reader = ColumnReader(row)
    id = reader.next()
    controlServer = reader.next()
    clientUUID = reader.next()
    testUUID = reader.next()
    token = reader.next()
    loopUUID = reader.next()
    number = reader.next()
    drive = reader.next()
    started = WallTime(microseconds: reader.next())
    ended = reader.time()
    outcome = (reader.next() as String?).flatMap(Outcome.init)
    guard let state = State(rawValue: reader.next()) else { return nil }
    self.state = state
    attempt = reader.next()
    troubles = reader.next()
    sent = reader.time()
    reason = reader.next()
    error = reader.next()
    technology = (reader.next() as String?).map(Technology.init)
    let (latitude, longitude): (Double?, Double?) = (reader.next(), reader.next())
    place =
      if let latitude, let longitude { Coordinate(latitude: latitude, longitude: longitude) } else { nil }
    figures = (reader.next() as String?).flatMap {
      try? JSONDecoder().decode(SpeedTestFigures.self, from: Data($0.utf8))
    }
    qos = reader.next()
    qosState = (reader.next() as String?).flatMap(State.init)
    store = reader.next()
  }
}
