import Coverage
import Foundation
import Logging
import Networking
import Service
import SpeedTest
import Synchronization

/// `speedtest`: one test against a measurement server that the user names.
struct SpeedTesting: Sendable {
  enum TokenSource: Hashable, Sendable {
    /// A token that a control server issued.
    case issued(String)
    /// The secret of a server of one's own: a token is made from it.
    case secret(String)
    /// A server that checks no tokens.
    case none
  }

  private let plan: SpeedTestPlan
  private let asJSON: Bool

  /// - Parameter now: Unix seconds, for a token that is made.
  /// - Throws: `SpeedTestError.unusableToken`
  init(
    server: HostPort, token: TokenSource, now: Int64, asJSON: Bool, configure: (inout SpeedTestPlan) -> Void
  ) throws {
    let text =
      switch token {
      case .issued(let text): text
      case .secret(let secret):
        LabToken.version1(secret: secret, uuid: UUID().uuidString.lowercased(), unixSeconds: now)
      case .none: "none"
      }
    var plan = SpeedTestPlan(host: server.host, port: server.port, token: try MeasurementToken(text))
    configure(&plan)
    (self.plan, self.asJSON) = (plan, asJSON)
  }

  /// - Throws: `SpeedTestError` when there is no result at all; `CommandFailure` where an option may help.
  func run(
    stop: AsyncStream<Void>, show: (@Sendable (String) -> Void)?, print: (String) -> Void,
    note: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    let run = SpeedTestRun(plan)
    let stopping = Task {
      for await _ in stop {
        run.abort()
        break
      }
    }
    defer { stopping.cancel() }
    let display = Mutex(SpeedTestDisplay())
    let path = PathMonitor(
      source: .auto, interface: plan.access.interface, destination: plan.host, logger: Logger(label: Program.name))
    let began = ContinuousClock.now
    var links = LinkTrack()
    links.note(path.current, at: 0)
    let outcome: SpeedTestOutcome
    do {
      outcome = try await run.run { progress in
        display.withLock {
          let isNew = $0.apply(progress)
          if let show { show($0.line) } else if isNew { note("speedtest: \($0.line)") }
        }
      }
    } catch let error as SpeedTestError {
      guard let line = error.lineWithOptions else { throw error }
      throw CommandFailure(line)
    }
    var figures = outcome.figures(plan)
    // Of a name, the first reading had the default route.
    links.note(path.reading(to: run.serverAddress ?? plan.host), at: (.now - began).inNanoseconds)
    figures.links = links.links.isEmpty ? nil : links.links
    let report = SpeedTestReport(
      figures: figures, threads: plan.threads,
      failures: outcome.failures.map { failure in
        if case .silence(let reason) = failure { return reason }
        return "a connection: \(failure.lineWithOptions ?? failure.description)"
      })
    if let show { show("") }
    if asJSON { print(report.json.text) } else { report.lines.forEach(print) }
    return outcome.isComplete ? .done : .failed
  }
}

extension SpeedTestError {
  /// The line with the options that may help in place of settings; `nil` when no option of this command does.
  var lineWithOptions: String? {
    switch self {
    case .untrusted(let reason): "TLS failed: \(reason); see --ca-file and --insecure"
    case .upgradeRefused: "\(self); try another --protocol"
    default: nil
    }
  }
}
