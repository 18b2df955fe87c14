import Coverage
import Logging
import Store

/// The settings of a ``Sender``.
public struct SenderSettings: Hashable, Sendable {
  /// How long data stays in the store.
  public var retention = Retention()
  /// How much data stays in the store.
  public var quota = Quota()
  /// Fences without a session are sent when they are older than this.
  public var legacyThreshold: Duration = .seconds(15 * 60)
  /// The waits before requests.
  public var gate = ServerGate.Policy()
  /// The most fences in one request.
  var fencesPerRequest = 400

  /// The default settings.
  public init() {}
}

/// The parts that passes over any store share: one gate, one registration, one clock.
struct PassParts: Sendable {
  let server: GatedServer
  let registration: Registration
  let settings: SenderSettings
  /// With the wall time of the selected clock.
  let clock: SenderClock
  let timekeeper: Timekeeper
  let logger: Logger

  /// Makes what runs passes over `store`.
  func runner(of store: DriveStore) -> (housekeeping: Housekeeping, runner: PassRunner) {
    let housekeeping = Housekeeping(
      store: store, retention: settings.retention, quota: settings.quota, clock: clock, timekeeper: timekeeper,
      logger: logger)
    let dating = DriveDating(
      store: store, timekeeper: timekeeper, clock: clock, registration: registration, logger: logger)
    let outcomes = BatchOutcomes(store: store, server: server, clock: clock, logger: logger)
    let history = HistoryCheck(
      store: store, server: server, registration: registration, outcomes: outcomes,
      fencesPerRequest: settings.fencesPerRequest, clock: clock, logger: logger)
    let anchor = TestAnchor(
      store: store, server: server, registration: registration, clock: clock, timekeeper: timekeeper, logger: logger)
    let preparation = PassPreparation(
      store: store, dating: dating, housekeeping: housekeeping, registration: registration, url: server.url,
      legacyThreshold: settings.legacyThreshold, fencesPerRequest: settings.fencesPerRequest, clock: clock,
      logger: logger)
    let runner = PassRunner(
      server: server, registration: registration, housekeeping: housekeeping, preparation: preparation, dating: dating,
      history: history,
      delivery: Delivery(
        store: store, server: server, registration: registration, dating: dating, anchor: anchor, history: history,
        outcomes: outcomes, clock: clock, logger: logger),
      speedTests: SpeedTestDelivery(
        store: store, server: server, registration: registration, clock: clock, logger: logger),
      clock: clock, logger: logger)
    return (housekeeping, runner)
  }
}
