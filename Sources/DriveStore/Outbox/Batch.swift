import Coverage

/// What goes to the control server in one request: fences of one session, for one test. A test takes one result only, so that
/// each part of a session needs a test of its own.
public struct Batch: Hashable, Sendable, Identifiable {
  public enum State: String, Hashable, Sendable {
    /// To be sent.
    case waiting
    /// It may have left, and what came of it is not known.
    case sending
    case submitted
    /// The server refused it; it is sent again on command only.
    case quarantined
    /// Its fences are in other batches now.
    case replaced
  }

  /// A test of the control server.
  public struct Test: Hashable, Sendable {
    public let uuid: String
    /// The moment to which the offsets of the fences relate.
    public let anchor: WallTime

    public init(uuid: String, anchor: WallTime) {
      self.uuid = uuid
      self.anchor = anchor
    }
  }

  public let id: Int64
  public let session: Int64
  /// The wall time of the drive's start.
  public let driveStarted: WallTime
  /// `nil` until the server has made one for it.
  public var test: Test?
  /// The name of the test that it may have gone to, where its row was damaged: to be asked about, and sent nothing.
  var lostTest: String?
  /// The client UUID that the server knows the sender of ``test`` by: only that client's history tells what became of it. `nil`
  /// before it is sent, and in stores of earlier versions. To be shown to nobody.
  public var client: String?
  public let state: State
  /// How often it was sent.
  public let attempt: Int
  /// Trouble that it met; any puts it behind the others. Answers to the batch itself count each time, trouble with a request for its
  /// test, or with the history, once.
  public let troubles: Int
  public let sent: WallTime?
  /// How many fences went with the last request; `nil` when there was none.
  public let sentFences: Int?
  /// How many it has now.
  public let fences: Int
  /// When its first fence was entered.
  public let earliest: WallTime

  /// Whether its row was damaged, or lost: whether it ever left, and what with, is not known.
  public var isLost: Bool { state == .sending && attempt == 0 }
  /// The test whose fences may be its own.
  public var testInQuestion: String? { test?.uuid ?? lostTest }
}
