import Coverage
import Logging
import Store

/// Deletes data from the store by age and for the quota.
actor Housekeeping {
  private let store: DriveStore
  private let retention: Retention
  private let quota: Quota
  private let clock: SenderClock
  private let timekeeper: Timekeeper
  private let logger: Logger
  /// Whether the log already has a line about an excess that cannot be deleted.
  private var isExcessLogged = false
  private var isMakingRoom = false

  init(
    store: DriveStore, retention: Retention, quota: Quota, clock: SenderClock, timekeeper: Timekeeper, logger: Logger
  ) {
    (self.store, self.retention, self.quota) = (store, retention, quota)
    (self.clock, self.timekeeper, self.logger) = (clock, timekeeper, logger)
  }

  /// Whether a second clock agrees with the selected one, so that ages are certain.
  nonisolated var isAgeConfirmed: Bool { timekeeper.agreement == .agrees }

  /// Deletes data that exceeds its age limit.
  func deleteOld(_ pass: inout Pass) async throws {
    let deleted = try await store.cleanup.run(
      retention, now: clock.wall(), agreement: timekeeper.agreement, except: pass.running)
    if !deleted.isNothing {
      logger.notice(
        """
        \(pass.mode) pass: deleted \(counted(deleted.expired, "fence")) too old to be sent, \(deleted.sentLongAgo) stored long enough, \
        \(counted(deleted.sessions, "session")) without fences, \(counted(deleted.speedTests, "speed test")), \(counted(deleted.driveLogs, "drive log")), and \
        \(counted(deleted.damagedStores, "damaged store"))
        """)
    }
    pass.report.fencesExpired += deleted.expired
    pass.doubts.oldFences = deleted.doubted
  }

  /// Deletes submitted data while the state directory exceeds its quota.
  func keepWithinQuota(except running: Int64?) async throws {
    let dropped = try await store.space.keepWithin(quota, except: running)
    log(
      dropped, because: "the state directory held more than storage.max-size or storage.max-fences",
      excess: """
        the state directory holds \(dropped.bytesOver) bytes more than storage.max-size allows, and \(dropped.fencesOver) fences \
        more than storage.max-fences
        """)
  }

  /// Deletes submitted data after a write met a full disk. A call during another call has no effect.
  /// - Parameter running: As for ``firstRunningDrive(_:)``.
  func makeRoom(except running: @Sendable () async -> Int64?) async {
    guard !isMakingRoom else { return }
    isMakingRoom = true
    defer { isMakingRoom = false }
    do {
      let dropped = try await store.space.makeRoom(except: try await firstRunningDrive(running))
      log(dropped, because: "the disk is full", excess: "the disk is full")
    } catch {
      logger.error("cannot free space on the full disk: \(StoreError.line(error))")
    }
  }

  /// The lowest drive id that must not be changed. Drives that begin later have higher ids.
  ///
  /// It reads the next drive's id first: `running` knows a drive before that drive takes its id. In the other order, a drive that begins
  /// between the two readings is missing in both.
  nonisolated func firstRunningDrive(_ running: @Sendable () async -> Int64?) async throws -> Int64 {
    let next = try await store.drives.next()
    return min(await running() ?? .max, next)
  }

  private func log(_ dropped: Dropped, because reason: String, excess: String) {
    if !dropped.isNothing {
      logger.notice(
        """
        \(reason): dropped \(dropped.fences) fences that the server has or that are kept, \(dropped.speedTests) speed tests that the server has, \(dropped.damagedStores) files of damaged stores, and \
        \(dropped.driveLogs) drive logs; \(dropped.bytes) bytes are free again
        """)
    }
    if !dropped.isEnough, !isExcessLogged {
      logger.error(
        "\(excess), and nothing more in the state directory may be deleted: unsent data stays, and recording goes on")
    }
    isExcessLogged = !dropped.isEnough
  }
}
