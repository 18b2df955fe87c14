import Coverage
import DriveStore
import Logging

/// Deletes what may go from the store: by its age, and when there is too much of it.
actor Housekeeping {
  private let store: DriveStore
  private let retention: Retention
  private let quota: Quota
  private let clock: SenderClock
  private let timekeeper: Timekeeper
  private let logger: Logger
  /// Whether the log has it already that too much is left, of which nothing may go.
  private var isExcessLogged = false
  private var isMakingRoom = false

  init(
    store: DriveStore, retention: Retention, quota: Quota, clock: SenderClock, timekeeper: Timekeeper, logger: Logger
  ) {
    (self.store, self.retention, self.quota) = (store, retention, quota)
    (self.clock, self.timekeeper, self.logger) = (clock, timekeeper, logger)
  }

  /// Whether a second clock agrees with the one by which things are old.
  nonisolated var isAgeConfirmed: Bool { timekeeper.witness == .agrees }

  /// Deletes what is too old.
  /// - Returns: Fences that look too old to be sent, by a clock that no other one has confirmed.
  func deleteOld(_ mode: PassMode, except running: Int64?) async throws -> Int {
    let deleted = try await store.cleanup.run(
      retention, now: clock.wall(), witness: timekeeper.witness, except: running)
    if !deleted.isNothing {
      logger.notice(
        """
        \(mode) pass: deleted \(deleted.expired) fences that became too old to be sent, \(deleted.kept) that were kept long \
        enough, \(deleted.sessions) sessions without fences, \(deleted.driveLogs) drive logs, and \(deleted.damagedStores) \
        damaged stores
        """)
    }
    return deleted.doubted
  }

  /// Drops what may go when the state directory holds more than its quota.
  func keepWithinQuota(except running: Int64?) async throws {
    let dropped = try await store.space.keepWithin(quota, except: running)
    log(
      dropped, because: "the state directory held more than storage.max-size or storage.max-fences",
      excess: """
        the state directory holds \(dropped.bytesOver) bytes more than storage.max-size allows, and \(dropped.fencesOver) fences \
        more than storage.max-fences
        """)
  }

  /// Drops what may go because a write has met a full disk. A call during another one does nothing.
  /// - Parameter running: The first of the drives that are being recorded, `nil` for none.
  func makeRoom(except running: Int64?) async {
    guard !isMakingRoom else { return }
    isMakingRoom = true
    defer { isMakingRoom = false }
    do {
      let dropped = try await store.space.makeRoom(except: try await firstRunningDrive(running))
      log(dropped, because: "the disk is full", excess: "the disk is full")
    } catch {
      logger.error("no room can be made on the full disk: \(error)")
    }
  }

  /// The first of the drives that nothing may touch. A drive that begins from now on is among them.
  nonisolated func firstRunningDrive(_ running: Int64?) async throws -> Int64 {
    min(running ?? .max, try await store.drives.next())
  }

  private func log(_ dropped: Dropped, because reason: String, excess: String) {
    if !dropped.isNothing {
      logger.notice(
        """
        \(reason): dropped \(dropped.fences) fences that the server has, \(dropped.damagedStores) files of damaged stores, and \
        \(dropped.driveLogs) drive logs; \(dropped.bytes) bytes are free again
        """)
    }
    if !dropped.isEnough, !isExcessLogged {
      logger.error(
        "\(excess), and nothing more of the state directory may go: what was not sent stays, and recording goes on")
    }
    isExcessLogged = !dropped.isEnough
  }
}
