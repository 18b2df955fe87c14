import ControlServer
import Coverage
import DriveStore
import Logging
import Pinging
import Submission

/// The parts that all drives of a process share.
public struct DriveEnvironment: Sendable {
  public let store: DriveStore
  public let server: ControlServerClient
  public let sender: Sender
  public let positions: PositionFeed
  public let timekeeper: Timekeeper
  public let logger: Logger

  public init(
    store: DriveStore, server: ControlServerClient, sender: Sender, positions: PositionFeed, timekeeper: Timekeeper,
    logger: Logger
  ) {
    (self.store, self.server, self.sender) = (store, server, sender)
    (self.positions, self.timekeeper, self.logger) = (positions, timekeeper, logger)
  }

  /// To be called before a drive is made: no pass touches it from now on.
  /// - Returns: By link, the loops that it continues.
  /// - Throws: GRDB's `DatabaseError`
  public func beginDrive() async throws -> [String?: String] {
    await sender.setRunningDrives(from: try await store.drives.next())
    return try await store.drives.interruptedLoops(
      bootID: HostBoot.id, sinceBoot: .nanoseconds(Int64(clamping: Pinger.now)), now: timekeeper.now)
  }
}
