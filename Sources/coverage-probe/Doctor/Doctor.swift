import Coverage
import Driving
import Foundation
import Positioning
import Service
import Settings
import Store
import Submission

/// Examines this host: whether a drive can be recorded now, and the remedy if not. It writes temporary files in the state
/// directory, and sends one registration and, by each link that a drive would measure, one request for a test and its pings; nothing else.
///
/// Each examination has a measurement, which does the I/O and returns values, and a judgement, which makes findings from them.
/// Tests call the judgement alone. It runs beside a service: it opens the store for reading, and only tries the writer's lock.
struct Doctor: Sendable {
  /// The configuration, with its mistakes.
  let reading: ConfigurationReading
  /// Sent with requests to the control server.
  let device: Device
  let wall: @Sendable () -> WallTime
  /// The host's clocks, for the waits that the service has stored.
  let clock: SenderClock

  /// The wait that the service has stored for requests to the server at `url`; `nil` when one may leave.
  func hold(at url: String) -> ServerGate.Hold? {
    let directory = StateDirectory(path: reading.configuration.stateDirectory)
    // A store that cannot be read is a finding of StateExamination.
    guard let reader = try? StoreReader(directory: directory) else { return nil }
    return (try? ServerGate.hold(in: reader, server: url, clock: clock)) ?? nil
  }

  /// Runs every examination, in the order of ``Finding/Subject``. Takes up to some 20 s, when gpsd or the server does not answer.
  func run(_ report: (Finding) -> Void) async {
    let configuration = reading.configuration
    ConfigurationExamination.findings(reading).forEach(report)
    // Without the file, each setting is unknown, and every other finding would be about defaults.
    guard !reading.isUnreadable else { return }
    let target = TargetPings(configuration.pings.target)
    let server = target?.target.host ?? configuration.controlServer.url.flatMap { URL(string: $0)?.host() }
    let links = configuration.driveLinks.map { LinkExamination($0, destination: server) }
    // All wait for answers from outside, and none needs another.
    async let positions = ReceiverExamination.listen(
      to: configuration.receiver, accuracyLimit: configuration.location.accuracyLimit)
    // With a target of its own, a drive asks no control server.
    async let requests =
      target == nil
      ? ServerExamination.ask(
        configuration, device, by: links.filter(\.isMeasured).map(\.link), gate: hold, wall: wall)
      : ServerExamination.Answers()
    async let modems = Self.listened(links)
    let host = await HostExamination.measure(wall: wall(), isEchoNeeded: target?.target.kind == .icmp)
    HostExamination.findings(host).forEach(report)
    StateExamination.findings(StateExamination.measure(configuration)).forEach(report)
    await LinkExamination.findings(of: modems).forEach(report)
    ReceiverExamination.findings(await positions, configuration).forEach(report)
    let answers = await requests
    ServerExamination.findings(answers, configuration).forEach(report)
    var pings: [(link: LinkSettings, pings: PingExamination.Pings)] = []
    for test in answers.tests {
      // Without a test there is no token for pings; the findings about the server have the reason.
      guard case .success(let grant) = test.answer else { continue }
      pings.append((test.link, await PingExamination.ping(grant, by: test.link, family: configuration.pings.family)))
    }
    if let target {
      for link in links where link.isMeasured {
        pings.append(
          (link.link, await PingExamination.ping(target, by: link.link, family: configuration.pings.family, wall: wall))
        )
      }
    }
    let isAnyAnswered = pings.contains { !$0.pings.answers.isEmpty }
    for (link, pings) in pings {
      let findings = PingExamination.findings(pings, link: link.name)
      (isAnyAnswered && pings.answers.isEmpty ? findings.map(\.lowered) : findings).forEach(report)
    }
  }

  private static func listened(_ links: [LinkExamination]) async -> [LinkExamination] {
    await withTaskGroup(of: (Int, LinkExamination).self) { group in
      for (index, link) in links.enumerated() { group.addTask { (index, await link.listened()) } }
      return await group.reduce(into: links) { $0[$1.0] = $1.1 }
    }
  }
}

/// The configuration: every mistake, and the one setting without a default that a drive needs.
enum ConfigurationExamination {
  /// A fault for each mistake, and one for a missing control server, which is no mistake: commands such as `export` need none.
  static func findings(_ reading: ConfigurationReading) -> [Finding] {
    guard !reading.isUnreadable else {
      return reading.mistakes.map {
        Finding(
          .fault, .configuration, "\($0)", advice: "correct the path, or run this as a user who may read the file")
      }
    }
    var findings = reading.mistakes.map { Finding(.fault, .configuration, "\($0)") }
    if findings.isEmpty { findings.append(Finding(.good, .configuration, reading.summary)) }
    if let target = reading.configuration.pings.target.target {
      findings.append(Finding(.good, .configuration, "drives are \(target.note); no control server is asked"))
    } else if reading.configuration.controlServer.url == nil {
      findings.append(
        Finding(
          .fault, .configuration, "control-server.url is not set, so no drive gets a test to ping with",
          advice:
            "set it, or pings.target.host for a drive without a control server, in \(reading.configuration.file ?? "a file for --config"), or \(urlVariable)"
        ))
    }
    return findings
  }

  private static let urlVariable = "COVERAGE_PROBE_CONTROL_SERVER_URL in the environment"
}
