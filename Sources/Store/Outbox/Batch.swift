import Coverage

/// The content of one request to the control server: fences of one session, for one test. A test accepts one result
/// only, so each part of a session needs its own test.
public struct Batch: Hashable, Sendable, Identifiable {
  /// The state of a batch. Only `waiting` batches are certainly not on the server.
  public enum State: String, Hashable, Sendable {
    /// Not sent yet.
    case waiting
    /// It may have left; the result is unknown.
    case sending
    case submitted
    /// The server refused it, or it may have arrived in part; sent again on command only.
    case quarantined
    /// Its fences are in other batches now.
    case replaced
  }

  /// A test of the control server.
  public struct Test: Hashable, Sendable {
    /// The server's name for it.
    public let uuid: String
    /// The moment that the offsets of the fences relate to: the time sent in the request for the test.
    public let anchor: WallTime

    public init(uuid: String, anchor: WallTime) { (self.uuid, self.anchor) = (uuid, anchor) }
  }

  /// Its id in the store.
  public let id: Int64
  /// The id of the session of its fences.
  public let session: Int64
  /// The wall time of the drive's start.
  public let driveStarted: WallTime
  /// `nil` until the server has granted one for it.
  public var test: Test?
  /// If the row was damaged: the name of the test that the batch may have gone to. Used to read the history, never to
  /// send.
  var lostTest: String?
  /// The client UUID under which ``test`` was requested; only that client's history shows the result. `nil` before
  /// the batch is sent. Must not be shown: it identifies the device.
  public var client: String?
  public let state: State
  /// How many times it was sent.
  public let attempt: Int
  /// How many times it met trouble; any trouble moves it behind the other batches. Answers to the batch itself count
  /// each time; trouble with its request for a test, or with the history, counts once.
  public let troubles: Int
  /// When it was last sent; of a batch in doubt, when the latest request left that may have arrived.
  public let sent: WallTime?
  /// Until when the request of ``sent`` can still be under way, in the sender's form; `nil` before the first request. Of a quarantined batch:
  /// any text if the server may have its fences.
  public let doubt: String?
  /// The number of fences in the last request; `nil` before the first.
  public let sentFences: Int?
  /// The number of fences it has now; for a batch that waits, damaged ones included until ``counted(_:)``.
  public internal(set) var fences: Int
  /// When its first fence was entered.
  public let earliest: WallTime

  /// The same batch with as many fences as were read.
  public func counted(_ fences: Int) -> Batch {
    var batch = self
    batch.fences = fences
    return batch
  }

  /// Whether its row was damaged or lost: then it is unknown whether it left, and with which fences.
  public var isLost: Bool { state == .sending && attempt == 0 }
  /// Whether it is quarantined because the server may have its fences. A refused batch is not.
  public var isQuarantinedInDoubt: Bool { state == .quarantined && doubt != nil }
  /// The test whose fences on the server may be its own.
  public var testInQuestion: String? { test?.uuid ?? lostTest }
}
