import Coverage
import DriveStore
import Logging

/// What goes from the store: by its age, and when there is too much of it.
extension Sender {
  /// The first of the drives that nothing is to be touched of. What begins from now on is among them.
  func firstRunningDrive() async throws -> Int64 { min(runningDrive ?? .max, try await store.drives.next()) }

  // MARK: Age

  /// Deletes what is too old.
  func cleanUp(_ pass: inout Pass) async throws {
    let deleted = try await store.cleanup.run(
      settings.retention, now: clock.wall(), witness: timekeeper.witness, except: pass.running)
    pass.doubted = deleted.doubted
    guard !deleted.isNothing else { return }
    logger.notice(
      """
      \(pass.mode) pass: deleted \(deleted.expired) fences that became too old to be sent, \(deleted.kept) that were kept long \
      enough, \(deleted.sessions) sessions without fences, \(deleted.driveLogs) drive logs, and \(deleted.damagedStores) damaged \
      stores
      """)
  }

  /// Asks the server for the time when fences look too old by a clock that may be wrong, and deletes them if it agrees.
  func settleAge(_ pass: inout Pass) async throws {
    guard pass.doubted > 0 else { return }
    logger.notice(
      "\(pass.mode) pass: \(pass.doubted) fences look too old to be sent, if the clock is right; asking the server"
    )
    await registration.doubt()
    _ = try await client()
    guard timekeeper.witness == .agrees else { return }
    try await cleanUp(&pass)
    try await lineUp(&pass)
  }

  // MARK: Times

  /// Asks the server for the time when drives would be dated anew by a clock that no other one has confirmed, and dates them by what
  /// comes of it. A server that does not say contradicts nothing.
  func settleTimes(_ pass: inout Pass) async throws {
    guard pass.hasDoubtfulTimes, !pass.hasAskedForTime else { return }
    if !timekeeper.isServerKnown {
      logger.notice("\(pass.mode) pass: the clock was set since drives were recorded; asking the server for the time")
      await registration.doubt()
      _ = try await client()
    }
    pass.hasAskedForTime = true
    try await followClock(&pass)
  }

  // MARK: Too much

  /// Drops what may go when the state directory holds more than its quota.
  func keepWithinQuota(_ pass: Pass) async throws {
    let dropped = try await store.space.keepWithin(settings.quota, except: pass.running)
    tell(
      dropped, because: "the state directory held more than storage.max-size or storage.max-fences",
      stillOver: """
        the state directory holds \(dropped.bytesOver) bytes more than storage.max-size allows, and \(dropped.fencesOver) fences \
        more than storage.max-fences
        """)
  }

  /// Drops what may go because the disk is full; to be called when a write has met that.
  public func makeRoom() async {
    guard !isMakingRoom else { return }
    isMakingRoom = true
    defer { isMakingRoom = false }
    do {
      let dropped = try await store.space.makeRoom(except: try await firstRunningDrive())
      tell(dropped, because: "the disk is full", stillOver: "the disk is full")
    } catch {
      logger.error("no room can be made on the full disk: \(error)")
    }
  }

  private func tell(_ dropped: Dropped, because reason: String, stillOver excess: String) {
    if !dropped.isNothing {
      logger.notice(
        """
        \(reason): dropped \(dropped.fences) fences that the server has, \(dropped.damagedStores) files of damaged stores, and \
        \(dropped.driveLogs) drive logs; \(dropped.bytes) bytes are free again
        """)
    }
    if !dropped.isEnough, !isExcessTold {
      logger.error(
        "\(excess), and nothing more of the state directory may go: what was not sent stays, and recording goes on")
    }
    isExcessTold = !dropped.isEnough
  }
}
