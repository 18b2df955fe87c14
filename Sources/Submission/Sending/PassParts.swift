import Logging
import Store

/// The parts that the steps of passes over one store share.
struct PassParts: Sendable {
  let store: DriveStore
  let server: GatedServer
  let registration: Registration
  let settings: SenderSettings
  /// With the wall time of the selected clock.
  let clock: SenderClock
  let timekeeper: Timekeeper
  let housekeeping: Housekeeping
  let logger: Logger

  init(
    store: DriveStore, server: GatedServer, registration: Registration, settings: SenderSettings, clock: SenderClock,
    timekeeper: Timekeeper, logger: Logger
  ) {
    (self.store, self.server, self.registration, self.settings) = (store, server, registration, settings)
    (self.clock, self.timekeeper, self.logger) = (clock, timekeeper, logger)
    housekeeping = Housekeeping(
      store: store, retention: settings.retention, quota: settings.quota, clock: clock, timekeeper: timekeeper,
      logger: logger)
  }

  /// The same for another store.
  func of(_ other: DriveStore) -> PassParts {
    PassParts(
      store: other, server: server, registration: registration, settings: settings, clock: clock,
      timekeeper: timekeeper, logger: logger)
  }
}

/// A step of a pass.
protocol PassStep: Sendable {
  var parts: PassParts { get }
}

extension PassStep {
  var store: DriveStore { parts.store }
  var server: GatedServer { parts.server }
  var registration: Registration { parts.registration }
  var clock: SenderClock { parts.clock }
  var timekeeper: Timekeeper { parts.timekeeper }
  var housekeeping: Housekeeping { parts.housekeeping }
  var logger: Logger { parts.logger }
}
