import ArgumentParser
import Foundation
import Networking
import Service
import Settings
import SpeedTest

struct SpeedTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "speedtest",
    abstract: "Measures ping, download and upload to an RMBT measurement server.",
    discussion: """
      Without --server, the control server of the configuration makes the test; the result is stored and sent as fences are. \
      With --server, the measurement server is one's own (tools/measurement-server, or any RMBT server whose token or secret is \
      known); the result is printed only. The fields of --json are in docs/speedtest.md.
      Exit status: 0 with all three figures; 1 when one is missing, or after SIGINT; 64 wrong usage; 75 when the result is \
      stored and could not be sent now.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "Store the result only; send it later with `coverage-probe submit`.")
  var noSubmit = false

  @Flag(name: .long, help: "Test even if speedtest.data-limit is used up.")
  var ignoreLimit = false

  @OptionGroup var own: OwnServerOptions

  @Flag(help: "One JSON object instead of the summary.")
  var json = false

  mutating func validate() throws {
    if own.server != nil, noSubmit || ignoreLimit {
      throw ValidationError("--no-submit and --ignore-limit do not go with --server: such a test is not stored.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      guard let place = own.server.flatMap(HostPort.init) else { return try await controlled() }
      let testing = try SpeedTesting(
        server: place, token: try own.tokenSource(), now: Int64(Date().timeIntervalSince1970), asJSON: json,
        configure: own.configure)
      return try await testing.run(
        stop: await Terminal.stopSignals(), show: Self.liveLine, print: Terminal.result,
        note: { Terminal.note($0) })
    }
  }

  private func controlled() async throws -> CommandOutcome {
    let testing = ControlledTesting(
      configuration: try configuration.load(), asJSON: json, submits: !noSubmit, ignoresLimit: ignoreLimit,
      logger: Terminal.logger())
    return try await testing.run(
      stop: await Terminal.stopSignals(), show: Self.liveLine, print: { Terminal.result($0) },
      note: { Terminal.note($0) })
  }

  /// Shows the live line; `nil` without a terminal.
  static var liveLine: (@Sendable (String) -> Void)? {
    guard LiveArea.isPossible else { return nil }
    return { line in LiveArea.show { columns, _ in [LineWidth.cut(line, to: columns)] } }
  }
}

extension SpeedTestPlan.Opening: ExpressibleByArgument {}

/// The measurement server of one's own, and how it is tested.
struct OwnServerOptions: ParsableArguments {
  @Option(help: "A measurement server of one's own: HOST:PORT, or [ADDRESS]:PORT.")
  var server: String?

  @Option(help: "The token that a control server issued, used as it is; other users of this host can see it.")
  var token: String?

  @Option(
    name: .customLong("secret-file"), help: "The file of the server's secret, from which a token is made.",
    completion: .file())
  var secretFile: String?

  @Option(name: .customLong("protocol"), help: "http (RMBThttp) or native (RMBT).")
  var opening: SpeedTestPlan.Opening?

  @Flag(help: "TLS.")
  var tls = false

  @Flag(help: "With --tls: accept any certificate, as the reference apps do.")
  var insecure = false

  @Option(
    name: .customLong("ca-file"), help: "With --tls: the PEM file of certificates to trust instead of the system's.",
    completion: .file(extensions: ["pem", "crt"]))
  var caFile: String?

  @Option(help: "Connections, 1 to 20 (3 without this option); a slow link reduces them to one.")
  var threads: Int?

  @Option(help: "Seconds of the download and of the upload, 1 to 30 (7 without this option).")
  var seconds: Int?

  @Flag(name: .customShort("4"), help: "IPv4 only.")
  var ipv4 = false

  @Flag(name: .customShort("6"), help: "IPv6 only.")
  var ipv6 = false

  mutating func validate() throws {
    if let server, HostPort(server) == nil {
      throw ValidationError("--server is \"\(server)\": expected HOST:PORT or [ADDRESS]:PORT.")
    }
    let ownOptions: [(String, Bool)] = [
      ("--token", token != nil), ("--secret-file", secretFile != nil), ("--protocol", opening != nil), ("--tls", tls),
      ("--threads", threads != nil), ("--seconds", seconds != nil), ("-4", ipv4), ("-6", ipv6),
    ]
    if server == nil, let wrong = ownOptions.first(where: \.1) {
      throw ValidationError("\(wrong.0) belongs to --server: without it, the control server says how to test.")
    }
    if token != nil, secretFile != nil { throw ValidationError("--token and --secret-file exclude each other.") }
    if ipv4, ipv6 { throw ValidationError("-4 and -6 exclude each other.") }
    if !tls, insecure || caFile != nil { throw ValidationError("--insecure and --ca-file belong to --tls.") }
    if insecure, caFile != nil { throw ValidationError("--insecure and --ca-file exclude each other.") }
    if let threads, !(1...20).contains(threads) { throw ValidationError("--threads is \(threads): expected 1 to 20.") }
    if let seconds, !(1...30).contains(seconds) { throw ValidationError("--seconds is \(seconds): expected 1 to 30.") }
  }

  /// The token of --token, one made from the secret, or none.
  /// - Throws: `ValidationError` for a secret that cannot be read.
  func tokenSource() throws -> SpeedTesting.TokenSource {
    if let token { return .issued(token) }
    guard let secretFile else { return .none }
    guard let text = try? String(contentsOfFile: secretFile, encoding: .utf8) else {
      throw ValidationError("cannot read the secret from \(secretFile).")
    }
    return .secret(text.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  func configure(_ plan: inout SpeedTestPlan) {
    plan.opening = opening ?? .http
    (plan.isEncrypted, plan.access.verifiesCertificate, plan.access.caFile) = (tls, !insecure, caFile)
    plan.access.family = ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil
    (plan.threads, plan.seconds) = (threads ?? 3, seconds ?? 7)
  }
}
