import Coverage
import Foundation
import Settings
import Store
import TestSupport
import Testing

@testable import Service
@testable import Submission

/// `submit` and `sessions forget` without a service, and their checks before they begin.
struct SubmittingTests {
  private let folder: TemporaryFolder
  private let log = LogLines()

  init() throws { folder = try TemporaryFolder() }

  private func configuration(url: String? = ServiceRig.nowhere) -> ProbeConfiguration {
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = folder.file("state")
    configuration.controlServer.url = url
    configuration.controlServer.requestTimeout = .seconds(1)
    return configuration
  }

  private func open() throws -> DriveStore {
    try DriveStore(directory: StateDirectory(path: configuration().stateDirectory), purpose: "another program")
  }

  private func submit(
    _ configuration: ProbeConfiguration, stop: AsyncStream<Void> = AsyncStream { _ in }
  ) async throws -> (lines: [String], outcome: CommandOutcome) {
    var lines: [String] = []
    let outcome = try await Submitting(
      configuration: configuration, isWarm: false, includesQuarantined: false, logger: log.logger
    ).run(stop: stop) { lines.append($0) }
    return (lines, outcome)
  }

  @Test("when no control server is set, then the error names the key, and no store is created")
  func noServer() async throws {
    let error = await #expect(throws: ConfigurationError.self) { try await submit(configuration(url: nil)) }
    #expect(
      error?.description == "control-server.url is not set: there is no server to submit to; no --config FILE is given")
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
  }

  @Test("when the CA file is missing or has no certificate, then the command fails before it opens the store")
  func caFile() async throws {
    var configuration = configuration()
    configuration.controlServer.caFile = folder.file("gone.pem")
    await #expect(throws: InputFileError.self) { try await submit(configuration) }
    configuration.controlServer.caFile = try folder.write("no certificate", to: "ca.pem")
    await #expect(throws: (any Error).self) { try await submit(configuration) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
  }

  @Test("when nothing waits, then no request is sent, and the command is done")
  func nothing() async throws {
    let (lines, outcome) = try await submit(configuration())
    #expect(lines == ["nothing to submit"])
    #expect(outcome == .done)
  }

  @Test("when only kept drives are stored and no control server is set, then the command says so, and is done")
  func kept() async throws {
    do {
      let store = try open()
      var recorder = try DriveRecorder(
        store, started: .sampleStart, log: nil, target: DriveTarget(.udpEcho, host: "192.0.2.1", port: 7))
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(60))], fences: [.sample()],
        seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
    }
    let words = "nothing to submit; 1 session kept here and never submitted (pings.target)"
    for url in [nil, ServiceRig.nowhere] {
      let (lines, outcome) = try await submit(configuration(url: url))
      #expect(lines == [words] && outcome == .done)
    }
    do { try open().recordDrive() }
    await #expect(throws: ConfigurationError.self, "what waits needs a server") {
      try await submit(configuration(url: nil))
    }
    #expect(try StoreReader(open()).sessions().map(\.waitingFences) == [0, 2])
  }

  @Test("when the server cannot be reached, then the command says so with status 75, and the fences stay")
  func unreachable() async throws {
    do { try open().recordDrive() }
    let (lines, outcome) = try await submit(configuration())
    #expect(lines.count == 1)
    #expect(lines[0].contains("; 1 session kept for later (coverage-probe submit): cannot reach the control server"))
    #expect(outcome.rawValue == 75)
    #expect(try StoreReader(open()).sessions().map(\.waitingFences) == [2])
  }

  @Test("when the operator stops the command at once, then the fences stay")
  func stopped() async throws {
    do { try open().recordDrive() }
    let stop = AsyncStream<Void> { $0.yield() }
    do {
      let (_, outcome) = try await submit(configuration(), stop: stop)
      #expect(outcome == .kept)
    } catch is CancellationError {}
    #expect(try StoreReader(open()).sessions().map(\.waitingFences) == [2])
  }

  @Test("when another program than a service uses the store, then submit and forget name it and change nothing")
  func inUse() async throws {
    let store = try open()
    try store.recordDrive()
    let error = await #expect(throws: StoreError.self) { try await submit(configuration()) }
    #expect(error?.description.contains("another program") == true)
    await #expect(throws: StoreError.self) {
      try await Forgetting.run(.session(1), configuration(), logger: log.logger) { _ in }
    }
    #expect(try StoreReader(store).sessions().map(\.id) == [1])
  }

  @Test("when a service uses the store, then it runs the command, and its line is the result")
  func throughService() async throws {
    try await ServiceRig.run(preparing: { try $0.recordDrive() }) { rig in
      let (lines, outcome) = try await submit(rig.configuration)
      #expect(lines.count == 1 && lines[0].contains("1 session kept for later"), "\(lines)")
      #expect(outcome == .kept)
      #expect(rig.log.messages.contains("command: submit, cold"))
      var deleted: [String] = []
      #expect(
        try await Forgetting.run(.session(1), rig.configuration, logger: log.logger) { deleted.append($0) } == .done)
      #expect(deleted == ["session 1 with 2 fences is deleted here; the server keeps fences that were sent"])
      let error = await #expect(throws: CommandFailure.self) {
        try await Forgetting.run(.session(1), rig.configuration, logger: log.logger) { deleted.append($0) }
      }
      #expect(error?.description == "there is no session 1; coverage-probe sessions lists them")
      #expect(deleted.count == 1)
    }
  }

  @Test("when a session is forgotten without a service, then it is deleted, and a second attempt fails")
  func forget() async throws {
    do { try open().recordDrive() }
    var lines: [String] = []
    #expect(try await Forgetting.run(.session(1), configuration(), logger: log.logger) { lines.append($0) } == .done)
    #expect(lines == ["session 1 with 2 fences is deleted here; the server keeps fences that were sent"])
    await #expect(throws: ExportError.noSuchSession(1)) {
      try await Forgetting.run(.session(1), configuration(), logger: log.logger) { _ in }
    }
  }

  @Test("when settings of submission are set, then the sender has each of them")
  func settings() throws {
    let file = try folder.write(
      """
      submission: { max-age: 2d, keep: 3d, legacy-threshold: 4m, spread: 5s, backoff: 6s, backoff-max: 7s,
        breaker: { threshold: 8, backoff: 9s, backoff-max: 10s } }
      storage: { max-size: 64M, max-fences: 5000 }
      """, to: "config.yaml")
    let settings = try ProbeConfiguration.load(file: file, environment: [:]).sender
    #expect(settings.retention.maxAge == .seconds(2 * 86_400))
    #expect(settings.retention.keep == .seconds(3 * 86_400))
    #expect(settings.legacyThreshold == .seconds(240))
    #expect(settings.quota == Quota(bytes: 64 << 20, fences: 5000))
    #expect(settings.gate.spread == .seconds(5))
    #expect((settings.gate.backoff, settings.gate.backoffMax) == (.seconds(6), .seconds(7)))
    #expect(settings.gate.breaker.threshold == 8)
    #expect((settings.gate.breaker.backoff, settings.gate.breaker.backoffMax) == (.seconds(9), .seconds(10)))
  }

  @Test("when settings of a drive and of the receiver are set, then the drive and the receiver have each of them")
  func driveSettings() throws {
    let file = try folder.write(
      """
      gpsd: { host: gps.example, port: 2948, device: /dev/ttyS1, stale-after: 2s }
      location: { maximum-speed: 80, speed-limit: 90, minimum-radius: 25, give-up-after: 3m }
      pings: { interval: 200ms, timeout: 3s, ip-version: 6 }
      drive: { maximum-duration: 1h, log: false }
      agent: { record: moving, start-speed: 3, rest: 1m }
      """, to: "config.yaml")
    let configuration = try ProbeConfiguration.load(file: file, environment: [:])
    let receiver = configuration.receiver
    #expect((receiver.host, receiver.port, receiver.device) == ("gps.example", 2948, "/dev/ttyS1"))
    #expect((receiver.maximumSpeed, receiver.speedLimit) == (80, 90))
    #expect(receiver.staleAfter == .seconds(2))
    let drive = configuration.driveOptions
    #expect((drive.pingInterval, drive.pingTimeout, drive.pingFamily) == (.milliseconds(200), .seconds(3), .ipv6))
    #expect((drive.parameters.minimumRadius, drive.parameters.maximumDuration) == (25, .seconds(3600)))
    #expect(!drive.writesLog)
    #expect(drive.links.count == 1 && drive.links[0].name == nil)
    let rules = configuration.recordingRules
    #expect((rules.startSpeed, rules.rest, rules.patience) == (3, .seconds(60), .seconds(180)))
    #expect(rules.rule == .moving)
  }
}
