import CPinger
import Coverage
import Driving
import Foundation
import Logging
import Pinging
import Positioning
import Settings
import Store
import Submission

extension DriveEnvironment {
  /// Opens the store as its only writer, and makes the parts that all drives and tests of this process share. Nothing runs yet.
  /// - Parameter purpose: Names this process to others that find the store in use.
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
    warnOfDirectory()
    _ = await recoverRest(configuration) { false }
  }

  /// The same before a drive, which waits for two seconds and for one log at most.
  /// - Returns: Whether logs are left for ``recoverRest(_:until:)``.
  public func recoverBeforeDrive(_ configuration: ProbeConfiguration) async -> Bool {
    warnOfDirectory()
    let deadline = ContinuousClock.now + .seconds(2)
    return await recoverRest(configuration) { ContinuousClock.now > deadline }
  }

  /// Restores what an earlier call left. Must not run beside a drive.
  /// - Parameters:
  ///   - progress: Receives the number of drive logs that were compared, and of all that are to be.
  ///   - isEnough: Asked before each log.
  /// - Returns: Whether logs are left again.
  public func recoverRest(
    _ configuration: ProbeConfiguration, progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in },
    until isEnough: @Sendable () -> Bool
  ) async -> Bool {
    await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger, progress: progress).attempt(
      at: .current, until: isEnough)
  }

  private func warnOfDirectory() {
    if let warning = store.directory.warning { logger.warning("\(warning)") }
  }
}

extension ProbeConfiguration {
  /// How a drive measures.
  public var driveOptions: DriveOptions {
    var options = DriveOptions(
      links: driveLinks, parameters: parameters, recovery: recovery, pingInterval: pings.interval,
      pingTimeout: pings.timeout, pingFamily: pings.family, configuresModem: configuresModem,
      writesLog: drive.log)
    options.pausesForTests = speedTest.coveragePings == .pause
    options.target = TargetPings(pings.target)
    return options
  }

  /// How to reach gpsd, and which positions to accept.
  public var receiver: GPSDConfiguration {
    GPSDConfiguration(
      host: gpsd.host, port: gpsd.port, device: gpsd.device, staleAfter: gpsd.staleAfter,
      maximumSpeed: location.maximumSpeed, speedLimit: location.speedLimit)
  }
}

extension ProbeConfiguration {
  public var sender: SenderSettings {
    var settings = SenderSettings()
    settings.retention.maxAge = submission.maxAge
    settings.retention.keep = submission.keep
    settings.legacyThreshold = submission.legacyThreshold
    settings.quota = Quota(bytes: storage.maxSize, fences: storage.maxFences)
    settings.gate.spread = submission.spread
    (settings.gate.backoff, settings.gate.backoffMax) = (submission.backoff, submission.backoffMax)
    settings.gate.breaker = CircuitBreaker.Policy(
      threshold: submission.breakerThreshold, backoff: submission.breakerBackoff,
      backoffMax: submission.breakerBackoffMax)
    return settings
  }
}

extension SenderClock {
  public static var host: SenderClock {
    SenderClock(
      wall: { .current }, boot: { .nanoseconds(Int64(clamping: Pinger.now)) }, awake: { HostBoot.awake },
      maximumError: {
        var microseconds: Int64 = 0
        return cpprocess_clock_is_synchronised(&microseconds) == 1 ? .microseconds(microseconds) : nil
      }, bootID: HostBoot.id)
  }
}

extension Device {
  /// This host, as far as its files describe it.
  public static var thisHost: Device {
    let locale = HostLocale.thisHost
    return Device(
      model: model, device: ProcessInfo.processInfo.hostName, osVersion: osVersion,
      language: locale.language, timezone: locale.timezone,
      softwareVersion: Program.version, softwareVersionCode: Program.versionCode, softwareRevision: Program.revision)
  }

  /// The board's name from the device tree (ARM boards) or from DMI (PCs).
  private static var model: String {
    let files = ["/sys/firmware/devicetree/base/model", "/sys/class/dmi/id/product_name"]
    let names = files.compactMap(firstLine).filter { !$0.isEmpty && $0.lowercased() != "unknown" }
    return names.first ?? "Linux"
  }

  /// The distribution in words, from os-release(5).
  private static var osVersion: String {
    let release = FileManager.default.contents(atPath: "/etc/os-release").map { String(decoding: $0, as: UTF8.self) }
    let name = release?.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    return name.map { $0.dropFirst(12).trimmingCharacters(in: CharacterSet(charactersIn: "\"")) } ?? "Linux"
  }

  /// The text without white space and control characters at its ends: a value of the device tree ends with NUL.
  private static func firstLine(of file: String) -> String? {
    FileManager.default.contents(atPath: file).map {
      String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines.union(.controlCharacters))
    }
  }
}
