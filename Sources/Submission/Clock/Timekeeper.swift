import ControlServer
import Coverage
import DriveStore
import Foundation
import Logging

/// The wall time of this process: a ``WallClock`` with its readings, for all that asks for the time, and kept in the store for the next
/// process of the same boot.
public final class Timekeeper: Sendable {
  /// A pause between reading two clocks, such as a suspend, would look like a step of one of them.
  private static let longestReading = Duration.milliseconds(100)

  private let clock: SenderClock
  private let store: DriveStore
  private let latestDate: @Sendable () -> ServerDateReading?
  private let logger: Logger
  private let lock = NSLock()
  private nonisolated(unsafe) var value: WallClock
  private nonisolated(unsafe) var kept: WallClock
  private nonisolated(unsafe) var serverReading: ServerDateReading?
  private nonisolated(unsafe) var told: ClockRuling?
  private nonisolated(unsafe) var isTroubleTold = false

  /// - Parameter clock: The host's clocks.
  /// - Throws: GRDB's `DatabaseError`
  public convenience init(store: DriveStore, server: ControlServerClient, clock: SenderClock, logger: Logger) throws {
    try self.init(store: store, latestDate: { server.latestDate }, clock: clock, logger: logger)
  }

  /// - Parameter latestDate: The server's time by its latest answer.
  init(
    store: DriveStore, latestDate: @escaping @Sendable () -> ServerDateReading?, clock: SenderClock, logger: Logger
  ) throws {
    (self.store, self.latestDate, self.clock, self.logger) = (store, latestDate, clock, logger)
    value = try store.clocks.wallClock(ofBoot: clock.bootID, at: clock.boot()) ?? WallClock()
    value.note(formerBoots: try store.clocks.timesOfBoot(clock.bootID))
    kept = value
    // Of an answer from before, only its client knows when it came.
    serverReading = latestDate()
  }

  /// Which clock rules now, and when this is.
  public struct Reading: Hashable, Sendable {
    public let ruling: ClockRuling
    /// Since the boot.
    public let boot: Duration
    /// By how much the host's clock is ahead of the time that rules; `nil` when it could not be read.
    public let hostLead: Duration?

    public var wall: WallTime { ruling.wall(at: boot) }
  }

  /// Reads the clocks.
  public func read() -> Reading {
    let (host, boot) = readHost()
    let date = latestDate()
    return lock.withLock {
      if let date, date != serverReading {
        serverReading = date
        value.note(server: date.date, at: boot - (.now - date.received), roundTrip: date.roundTrip)
      }
      let ruling = value.judge(host: host, at: boot)
      return Reading(ruling: ruling, boot: boot, hostLead: host.map { $0 - ruling.wall(at: boot) })
    }
  }

  /// The host's two clocks at one moment; no wall time when there were pauses between reading one and the other.
  private func readHost() -> (wall: WallTime?, boot: Duration) {
    for _ in 0..<3 {
      let before = clock.boot()
      let wall = clock.wall()
      let boot = clock.boot()
      if boot - before < Self.longestReading { return (wall, boot) }
    }
    return (nil, clock.boot())
  }

  /// The wall time by the clock that rules.
  public var now: WallTime { read().wall }

  /// The wall time by the server's clock; `nil` when it is not known.
  var serverTime: WallTime? {
    let boot = clock.boot()
    return lock.withLock { value.serverTime(at: boot) }
  }

  /// Notes the time of a receiver with a fix.
  /// - Parameter arrival: When it came.
  public func note(gnss time: WallTime, receiver: String?, arrival: ContinuousClock.Instant) {
    let boot = clock.boot() - (.now - arrival)
    lock.withLock { value.note(gnss: time, receiver: receiver, at: boot) }
  }

  /// Whether things may be deleted by their age.
  public var witness: ClockWitness {
    let boot = read().boot
    return lock.withLock { value.witness(at: boot) }
  }

  /// Whether another clock would have contradicted by now: the server has told its time to this process, or to one before it.
  var isServerKnown: Bool { lock.withLock { value.knowsServer } }

  /// Logs which clock rules, and keeps that for the next process, when it has changed.
  public func settle() {
    let reading = read()
    let (ruling, current, last, wasTold) = lock.withLock {
      defer { told = reading.ruling }
      return (reading.ruling, value, kept, told)
    }
    if wasTold?.isSame(as: ruling) != true { tell(ruling, reading, isFirst: wasTold == nil) }
    guard !current.isEquivalent(to: last) else { return }
    do {
      try store.clocks.persist(current, ofBoot: clock.bootID)
      lock.withLock { (kept, isTroubleTold) = (current, false) }
    } catch {
      let isNew = lock.withLock {
        defer { isTroubleTold = true }
        return !isTroubleTold
      }
      if isNew { logger.warning("which clock rules cannot be kept: \(error); trying again") }
    }
  }

  private func tell(_ ruling: ClockRuling, _ reading: Reading, isFirst: Bool) {
    let lead = reading.hostLead ?? .zero
    let isOff = !(.seconds(-2)...(.seconds(2))).contains(lead)
    // That the host's clock is right is no news.
    if isFirst, !isOff, ruling.contradicting.isEmpty { return }
    let age = lock.withLock { value.witness(at: reading.boot) } == .contradicts
    let deleting = age ? "; nothing is deleted because of its age" : ""
    let host = isOff ? "; the host's clock is off by \(lead.inSeconds) s" : ""
    logger.log(level: isOff || !ruling.contradicting.isEmpty ? .warning : .info, "time: \(ruling)\(host)\(deleting)")
  }
}

extension SenderClock {
  /// The same with the wall time by the clock that rules.
  func ruled(by keeper: Timekeeper) -> SenderClock {
    SenderClock(wall: { keeper.now }, boot: boot, bootID: bootID, sleep: sleep, random: random)
  }
}
