import CPinger
import ControlServer
import Coverage
import DriveStore
import Driving
import Logging
import Positioning
import Recovery
import Settings
import Submission

extension DriveEnvironment {
  /// - Parameter purpose: What this process is, for another one that finds the store in use.
  /// - Throws: `StoreError`, GRDB's `DatabaseError`
  init(configuration: ProbeConfiguration, purpose: String, server: ControlServerClient, logger: Logger) throws {
    // What loading the program took: else it adds to what beginning a drive takes.
    cpprocess_forget_start()
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: purpose) {
      logger.error("\($0)")
    }
    let timekeeper = try Timekeeper(store: store, server: server, clock: .host, logger: logger)
    self.init(
      store: store, server: server,
      sender: try Sender(
        store: store, server: server, settings: configuration.sender, clock: .host, timekeeper: timekeeper,
        logger: logger),
      positions: PositionFeed(
        configuration.receiver, zones: configuration.exclusionZones, timekeeper: timekeeper, logger: logger),
      timekeeper: timekeeper, logger: logger)
  }

  /// Recovers from the drive logs what damage has taken from the store. Call it before anything is recorded or sent.
  func recover(_ configuration: ProbeConfiguration) async {
    if let warning = store.directory.warning { logger.warning("\(warning)") }
    await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger).attempt(at: .current)
  }
}
