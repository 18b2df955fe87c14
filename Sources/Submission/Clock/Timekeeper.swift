import Coverage
import Foundation
import Logging
import Store
import Synchronization

/// The wall time of this process: a ``WallClock`` with its readings, shared by all parts of the process. The store
/// has a copy for the next process of the same boot.
///
/// Methods may be called from any thread.
public final class Timekeeper: Sendable {
  /// When two clock reads are further apart, as after a suspend, their difference would look like a clock step.
  private static let longestReading = Duration.milliseconds(100)

  private let clock: SenderClock
  private let store: DriveStore
  private let latestDate: @Sendable () -> ServerDateReading?
  private let logger: Logger
  private let disk = DiskExecutor("clock")
  /// Held from the copy of the clock to the end of its write: the store must not end with the older one of two.
  private let publishing = NSLock()
  private let state: Mutex<State>

  private struct State {
    var value: WallClock
    var persisted: WallClock
    var serverReading: ServerDateReading?
    var reported: ClockSelection?
    var isTroubleLogged = false
  }

  /// Loads the readings of earlier processes of this boot from the store.
  /// - Throws: GRDB's `DatabaseError`
  public convenience init(store: DriveStore, server: ControlServerClient, clock: SenderClock, logger: Logger) throws {
    try self.init(store: store, latestDate: { server.latestDate }, clock: clock, logger: logger)
  }

  init(
    store: DriveStore, latestDate: @escaping @Sendable () -> ServerDateReading?, clock: SenderClock, logger: Logger
  ) throws {
    (self.store, self.latestDate, self.clock, self.logger) = (store, latestDate, clock, logger)
    var value = try store.clocks.wallClock(ofBoot: clock.bootID, at: clock.boot()) ?? WallClock()
    value.note(formerBoots: try store.clocks.timesOfBoot(clock.bootID))
    // Ignore an earlier answer: only its client knows when it arrived.
    state = Mutex(State(value: value, persisted: value, serverReading: latestDate()))
  }

  /// The selected clock at one moment.
  public struct Reading: Hashable, Sendable {
    /// Which clock is selected, and which ones contradict it.
    public let selection: ClockSelection
    /// The moment, as time since the host's boot.
    public let boot: Duration
    /// How far the host's clock is ahead of the selected time; `nil` when the host's clock could not be read.
    public let hostLead: Duration?

    /// The selected wall time at the moment of the reading.
    public var wall: WallTime { selection.wall(at: boot) }
  }

  /// Reads all clocks and decides which one is selected.
  public func read() -> Reading {
    let (host, boot) = readHost()
    let date = latestDate()
    return state.withLock { state in
      if let date, date != state.serverReading {
        state.serverReading = date
        state.value.note(server: date.date, at: boot - (.now - date.received), roundTrip: date.roundTrip)
      }
      let selection = state.value.select(host: host, at: boot, awake: clock.awake(), maximumError: clock.maximumError())
      return Reading(selection: selection, boot: boot, hostLead: host.map { $0 - selection.wall(at: boot) })
    }
  }

  /// The host's two clocks at one moment. The wall time is `nil` when each of three tries was interrupted between the
  /// two reads.
  private func readHost() -> (wall: WallTime?, boot: Duration) {
    for _ in 0..<3 {
      let before = clock.boot()
      let wall = clock.wall()
      let boot = clock.boot()
      if boot - before < Self.longestReading { return (wall, boot) }
    }
    return (nil, clock.boot())
  }

  /// The wall time of the selected clock.
  public var now: WallTime { read().wall }

  /// The wall time of the server's clock; `nil` when it is unknown.
  var serverTime: WallTime? {
    let boot = clock.boot()
    return state.withLock { $0.value.serverTime(at: boot) }
  }

  /// Records a receiver's time that came with a fix.
  public func note(gnss time: WallTime, receiver: String?, arrival: ContinuousClock.Instant) {
    let boot = clock.boot() - (.now - arrival)
    state.withLock { $0.value.note(gnss: time, receiver: receiver, at: boot) }
  }

  /// Whether a second clock agrees with the selected one; decides whether data may be deleted by its age.
  public var agreement: ClockAgreement {
    let boot = read().boot
    return state.withLock { $0.value.agreement(at: boot, awake: clock.awake()) }
  }

  /// Whether the server's time is known from this process or an earlier one: then a wrong host clock would already be
  /// contradicted.
  var isServerKnown: Bool { state.withLock { $0.value.knowsServer } }

  /// When the selected clock has changed: logs it, and stores it for the next process.
  func publish() async {
    await disk.execute { self.publishHere() }
  }

  /// ``publish()`` on the calling thread, which waits for the disk.
  public func publishHere() { publishing.withLock { publishAlone() } }

  private func publishAlone() {
    let reading = read()
    let (selection, current, last, lastReported) = state.withLock { state in
      defer { state.reported = reading.selection }
      return (reading.selection, state.value, state.persisted, state.reported)
    }
    if lastReported?.isSame(as: selection) != true { logSelection(selection, reading, isFirst: lastReported == nil) }
    guard !current.isEquivalent(to: last) else { return }
    do {
      try store.clocks.persist(current, ofBoot: clock.bootID)
      state.withLock { ($0.persisted, $0.isTroubleLogged) = (current, false) }
    } catch {
      let isNew = state.withLock { state in
        defer { state.isTroubleLogged = true }
        return !state.isTroubleLogged
      }
      if isNew { logger.warning("the selected clock cannot be stored: \(StoreError.line(error)); retrying") }
    }
  }

  private func logSelection(_ selection: ClockSelection, _ reading: Reading, isFirst: Bool) {
    let lead = reading.hostLead ?? .zero
    let isOff = !(.seconds(-2)...(.seconds(2))).contains(lead)
    // A correct host clock is not worth a line.
    if isFirst, !isOff, selection.contradicting.isEmpty { return }
    let age = state.withLock { $0.value.agreement(at: reading.boot, awake: clock.awake()) } == .contradicts
    let deleting = age ? "; nothing is deleted because of its age" : ""
    let host = isOff ? "; the host's clock is off by \(Double(lead.inMilliseconds) / 1000) s" : ""
    logger.log(
      level: isOff || !selection.contradicting.isEmpty ? .warning : .info, "time: \(selection)\(host)\(deleting)",
      metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.clock)])
  }
}

extension SenderClock {
  /// The same clocks, with the wall time of the selected clock.
  func timed(by keeper: Timekeeper) -> SenderClock {
    SenderClock(
      wall: { keeper.now }, boot: boot, awake: awake, maximumError: maximumError, bootID: bootID, sleep: sleep,
      random: random)
  }
}
