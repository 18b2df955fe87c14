import Coverage
import Driving
import Foundation
import Settings
import Store
import Submission
import TestSupport

@testable import Service

/// A real service in this process, with its store in a temporary folder, without a receiver.
struct ServiceRig {
  let folder: TemporaryFolder
  /// The configuration file, which a test may change.
  let file: String
  let configuration: ProbeConfiguration
  let environment: DriveEnvironment
  let log: LogLines
  /// Reaches the service like a command in another process.
  let client: ServiceClient
  /// Makes the service read its configuration again.
  let hangUp: @Sendable () -> Void

  /// A port of this host where no server listens.
  static let nowhere = "http://127.0.0.1:9/RMBTControlServer"

  private static let ended = "the service has ended"

  /// Runs `body` beside a service, and stops the service at the end, also when `body` throws.
  /// - Parameters:
  ///   - settings: More lines of the configuration.
  ///   - url: The control server.
  ///   - variables: The process's environment, which names the service manager.
  ///   - busAddress: The message bus of logind; the default has no bus.
  ///   - preparing: Fills the store before the service starts.
  /// - Throws: Errors of `body` and of the service.
  static func run(
    _ settings: String = "agent: { record: command }", url: String = nowhere,
    variables: [String: String] = [:], busAddress: String = "unix:path=/nonexistent",
    preparing: (DriveStore) throws -> Void = { _ in },
    _ body: (ServiceRig) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(text(settings, url: url, folder), to: "config.yaml")
    let configuration = try ProbeConfiguration.load(file: file, environment: [:])
    try preparing(DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test"))
    let log = LogLines(from: .info)
    let server = try ControlServerClient.configured(configuration, for: "a test")
    let environment = try DriveEnvironment(
      configuration: configuration, purpose: "a test's service", server: server, logger: log.logger)
    let service = Service(configuration: configuration, environment: environment, variables: variables)
    let (stops, stop) = AsyncStream<Void>.makeStream()
    let (hangUps, hangUp) = AsyncStream<Void>.makeStream()
    let running = Task {
      defer { log.append(Self.ended) }
      try await service.run(stop: stops, hangUp: hangUps, busAddress: busAddress)
    }
    let rig = ServiceRig(
      folder: folder, file: file, configuration: configuration, environment: environment, log: log,
      client: ServiceClient(configuration: configuration), hangUp: { hangUp.yield() })
    do {
      _ = try await eventually("the service accepts commands, or ends") {
        log.contains("accepting commands at") || log.contains(Self.ended) ? () : nil
      }
      if !log.contains(Self.ended) { try await body(rig) }
    } catch {
      stop.yield()
      _ = await running.result
      throw error
    }
    stop.yield()
    try await running.value
  }

  private static func text(_ settings: String, url: String, _ folder: TemporaryFolder) -> String {
    """
    state-directory: \(folder.file("state"))
    control-server: { url: "\(url)", request-timeout: 1s }
    gpsd: { host: 127.0.0.1, port: 9 }
    network: { source: fixed-cellular }
    submission: { spread: 0s }
    \(settings)

    """
  }

  /// Replaces text of the configuration file, and makes the service read it again.
  func reload(replacing old: String, with new: String) throws {
    let text = try String(contentsOfFile: file, encoding: .utf8).replacing(old, with: new)
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    hangUp()
  }

  /// Waits until the first line of the status is `line`.
  /// - Returns: The lines of that status.
  @discardableResult
  func wait(for line: String) async throws -> [String] {
    try await eventually("the service is \"\(line)\"") {
      let lines: [String]
      do {
        lines = try await client.status(asJSON: false).split(separator: "\n").map(String.init)
      } catch let error as ServiceUnreachable where error.reason == .silent {
        // On a busy machine, the client can time out before the service answers.
        return nil
      }
      return lines.first == line ? lines : nil
    }
  }

  /// The sessions of the store.
  func sessions() throws -> [StoredSession] { try StoreReader(environment.store).sessions() }

  /// Waits until the store has a session.
  func waitForSession() async throws -> Int64 {
    try await eventually("a session is stored") { try sessions().first?.id }
  }
}

extension DriveStore {
  /// Records an ended drive of today with one session of two fences.
  func recordDrive(ago: Duration = .seconds(3600), link: String? = nil, server: String? = nil) throws {
    var recorder = try DriveRecorder(
      self, started: WallTime.current.later(by: .zero - ago), log: nil, link: link, server: server)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
      fences: (0..<2).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(60))
    try recorder.end(at: .seconds(60), reason: .user)
  }
}
