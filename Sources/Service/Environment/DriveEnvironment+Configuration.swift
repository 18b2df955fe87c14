import CPinger
import Coverage
import Driving
import Logging
import Positioning
import Settings
import Store
import Submission

extension DriveEnvironment {
  /// Opens the store as its only writer, and makes the parts that all drives and tests of this process share. Nothing runs yet.
  /// - Parameters:
  ///   - configuration: All settings.
  ///   - purpose: Names this process to others that find the store in use.
  ///   - server: The client of the control server.
  ///   - logger: The program's log.
  /// - Throws: `StoreError`, GRDB's `DatabaseError`
  package init(configuration: ProbeConfiguration, purpose: String, server: ControlServerClient, logger: Logger) throws {
    // Releases the memory that loading the program needed, before a drive needs its own.
    cpprocess_forget_start()
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: purpose) {
      logger.error("\($0)", metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.storeDamage)])
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

  /// Restores fences that the store has lost from the drive logs. Must be called before anything is recorded or sent.
  public func recover(_ configuration: ProbeConfiguration) async {
    if let warning = store.directory.warning { logger.warning("\(warning)") }
    await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger).attempt(at: .current)
  }
}
