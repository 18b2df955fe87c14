import Agent
import ArgumentParser
import Foundation
import SpeedTest

struct SpeedTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "speedtest",
    abstract: "Measures ping, download and upload to an RMBT measurement server.",
    discussion: """
      The server is one's own (tools/measurement-server, or any RMBT server whose token or secret is known). The result is \
      printed; it is not stored, and not sent to a control server. The fields of --json are in docs/speedtest.md.
      Exit status: 0 with all three figures; 1 when one is missing, or after SIGINT; 64 wrong usage.
      """)

  @Option(help: "The measurement server: HOST:PORT, or [ADDRESS]:PORT.")
  var server: String

  @Option(help: "The token that a control server issued, used as it is; other users of this host can see it.")
  var token: String?

  @Option(name: .customLong("secret-file"), help: "The file of the server's secret, from which a token is made.")
  var secretFile: String?

  @Option(name: .customLong("protocol"), help: "http (RMBThttp) or native (RMBT).")
  var opening = SpeedTestPlan.Opening.http

  @Flag(help: "TLS.")
  var tls = false

  @Flag(help: "With --tls: accept any certificate, as the reference apps do.")
  var insecure = false

  @Option(
    name: .customLong("ca-file"), help: "With --tls: the PEM file of certificates to trust instead of the system's.")
  var caFile: String?

  @Option(help: "Connections, 1 to 20; a slow link reduces them to one.")
  var threads = 3

  @Option(help: "Seconds of the download and of the upload, 1 to 30.")
  var seconds = 7

  @Flag(name: .customShort("4"), help: "IPv4 only.")
  var ipv4 = false

  @Flag(name: .customShort("6"), help: "IPv6 only.")
  var ipv6 = false

  @Flag(help: "One JSON object instead of the summary.")
  var json = false

  mutating func validate() throws {
    guard ServerPlace(server) != nil else {
      throw ValidationError("--server is \"\(server)\": expected HOST:PORT or [ADDRESS]:PORT.")
    }
    if token != nil, secretFile != nil { throw ValidationError("--token and --secret-file exclude each other.") }
    if ipv4, ipv6 { throw ValidationError("-4 and -6 exclude each other.") }
    if !tls, insecure || caFile != nil { throw ValidationError("--insecure and --ca-file belong to --tls.") }
    if insecure, caFile != nil { throw ValidationError("--insecure and --ca-file exclude each other.") }
    guard (1...20).contains(threads) else { throw ValidationError("--threads is \(threads): expected 1 to 20.") }
    guard (1...30).contains(seconds) else { throw ValidationError("--seconds is \(seconds): expected 1 to 30.") }
  }

  func run() async throws {
    try await Terminal.run {
      guard let place = ServerPlace(server) else { throw ValidationError("--server: expected HOST:PORT.") }
      let testing = try SpeedTesting(
        server: place, token: try source(), now: Int64(Date().timeIntervalSince1970), asJSON: json
      ) {
        $0.opening = opening
        $0.isEncrypted = tls
        $0.verifiesCertificate = !insecure
        $0.caFile = caFile
        $0.family = ipv4 ? .ipv4 : ipv6 ? .ipv6 : .any
        $0.threads = threads
        $0.seconds = seconds
      }
      return try await testing.run(
        stop: await Terminal.stopSignals(), show: Self.liveLine, print: Terminal.result,
        note: { Terminal.note($0) })
    }
  }

  /// Shows the live line; `nil` without a terminal.
  private static var liveLine: (@Sendable (String) -> Void)? {
    guard LiveArea.isPossible else { return nil }
    return { line in LiveArea.show { columns, _ in [LineWidth.cut(line, to: columns)] } }
  }

  private func source() throws -> SpeedTesting.TokenSource {
    if let token { return .issued(token) }
    guard let secretFile else { return .none }
    guard let text = try? String(contentsOfFile: secretFile, encoding: .utf8) else {
      throw ValidationError("cannot read the secret from \(secretFile).")
    }
    return .secret(text.trimmingCharacters(in: .whitespacesAndNewlines))
  }
}

extension SpeedTestPlan.Opening: ExpressibleByArgument {}
