import Coverage
import Foundation
import Logging
import Pinging
import Store
import Submission

/// The parts that all drives of a process share.
public struct DriveEnvironment: Sendable {
  /// The store of the state directory.
  public let store: DriveStore
  /// The client of the control server.
  public let server: ControlServerClient
  /// Sends stored fences, and requests tests.
  public let sender: Sender
  /// The receiver's positions.
  public let positions: PositionFeed
  /// The selected clock.
  public let timekeeper: Timekeeper
  /// The program's log.
  public let logger: Logger

  /// Joins parts that share the same store, control server and clocks.
  public init(
    store: DriveStore, server: ControlServerClient, sender: Sender, positions: PositionFeed, timekeeper: Timekeeper,
    logger: Logger
  ) {
    (self.store, self.server, self.sender) = (store, server, sender)
    (self.positions, self.timekeeper, self.logger) = (positions, timekeeper, logger)
  }

  /// Prepares for a new drive: no pass changes it from now on. Must be called before the drive is made.
  /// - Returns: By link, the loop to continue.
  /// - Throws: GRDB's `DatabaseError`
  public func beginDrive() async throws -> [String?: String] {
    await sender.setRunningDrives(from: try await store.drives.next())
    return try await store.drives.loopsToContinue(
      bootID: HostBoot.id, sinceBoot: .nanoseconds(Int64(clamping: Pinger.now)), now: timekeeper.now)
  }
}

/// The row of a drive in the store, and its log, as they are made before the drive begins.
struct DriveFiles: Sendable {
  let recorder: DriveRecorder
  /// The path of the log, `nil` without one.
  let log: String?

  /// Removes them: the drive cannot begin on another of its links. A service tries again and again.
  func discard(_ logger: Logger) {
    if let log { unlink(log) }
    do {
      try recorder.discard()
    } catch {
      logger.error("drive \(recorder.drive) has not begun, but stays in the store: \(StoreError.line(error))")
    }
  }
}

/// An element of a ``DriveInbox``.
enum DriveSignal: Sendable {
  case input(DriveInput)
  /// Ping events can be read.
  case pingsDue
  /// A second has passed.
  case tick

  /// Whether it answers a request of the drive.
  var isAnswer: Bool {
    guard case .input(let input) = self else { return false }
    return switch input {
    case .granted, .requestFailed, .resolved, .unresolved, .lookedUp, .lookUpFailed: true
    default: false
    }
  }
}
