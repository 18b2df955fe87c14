import Coverage
import Logging
import Store
import Submission

/// Writes an ended drive to the disk. While the disk refuses fences, the sender has them, and submits them from memory
/// (``Sender/hold(_:sent:)``). They are in one place at a time: the sender gives them back with what was sent before
/// they are written, so that no fence is submitted twice.
public struct DriveSaving: Sendable {
  private let drive: LiveDrive
  private let store: DriveStore
  private let sender: Sender
  private let logger: Logger
  private let submits: Bool
  private var rest = UnsavedDrive()
  /// What the sender has, because the disk refuses it.
  private var held: [DriveInMemory] = []
  /// What the sender gave back, until it has it again, or the disk has it.
  private var sent: [BatchInMemory] = []
  /// The pause after a write that the disk refused although it had accepted the probe before.
  private var pause = DoublingWait(first: .zero, second: .seconds(1), greatest: .seconds(30))
  private var nextProbe = ContinuousClock.now

  /// - Parameters:
  ///   - drive: It has ended.
  ///   - submits: Whether fences may be submitted from memory.
  public init(_ drive: LiveDrive, in environment: DriveEnvironment, submits: Bool = true) {
    (self.drive, store, sender) = (drive, environment.store, environment.sender)
    (logger, self.submits) = (environment.logger, submits)
  }

  /// Tries to write what the disk has refused so far.
  /// - Parameter mayPause: Whether other attempts follow, so that this one can be left out.
  /// - Returns: What it still refuses.
  public mutating func attempt(mayPause: Bool = true) async -> UnsavedDrive {
    let wasHeld = !held.isEmpty
    if wasHeld {
      if mayPause, nextProbe > .now { return await counted() }
      // While a pass sends them, the fences stay where they are.
      guard await store.isWritable(), let back = await sender.takeBack() else { return await counted() }
      (sent, held) = (back, [])
    }
    let (rest, parts) = await drive.save(sent: sent)
    self.rest = rest
    sent.removeAll { batch in !parts.contains { $0.drive == batch.drive } }
    guard submits, !parts.isEmpty else { return rest }
    do {
      try await sender.hold(parts, sent: sent)
      (held, sent) = (parts, [])
      if wasHeld { pause.next() }
      nextProbe = .now + pause.current
    } catch {
      logger.error("the fences in memory cannot be submitted from there: \(StoreError.line(error))")
    }
    return await counted()
  }

  /// The rest, with what the server has of it by now.
  private mutating func counted() async -> UnsavedDrive {
    let submitted = await sender.submittedFromMemory
    rest.submitted = held.reduce(0) { $0 + $1.unstored.intersection(submitted[$1.drive] ?? []).count }
    return rest
  }
}
