import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// An RTR-Netztest compatible control server for demos and tests: the endpoints that a coverage client needs, and faults on
/// request.
@main
struct ControlServerCommand: AsyncParsableCommand {
  /// Why the server cannot start, for the operator; the exit code is 1.
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static let configuration = CommandConfiguration(
    commandName: "control-server",
    abstract: "A stand-in for an RTR-Netztest control server, with faults on request.",
    discussion: """
      When it is ready it prints the line `control-server: listening on URL`, with the URL to configure in the client.
      SIGTERM and SIGINT end it.

      The protocol:
        POST /RMBTControlServer/settings | coverageRequest | coverageResult | history | ip
        POST /RMBTControlServer/testRequest | result | resultUpdate     (speed tests, see --measurement-server)
        POST /RMBTControlServer/qosTestRequest | resultQoS              (QoS tests, see --qos-server)
        GET  /RMBTStatisticServer/opentests/O{uuid}     (the test's open UUID, or its test UUID)

      The contents of its database, as JSON:
        GET /RMBTControlServer/-/tests      clients, tests with their fences as received, speed tests, requests counted
        GET /RMBTControlServer/-/page       a page for QoS tests to fetch
        GET /RMBTControlServer/-/requests   the last 2000 requests: body, fault, status answered, reason

      Faults at run time:
        POST   /RMBTControlServer/-/faults        {"path":"coverageResult","fault":"503","count":2}
        GET    /RMBTControlServer/-/faults        lists the planned faults
        DELETE /RMBTControlServer/-/faults[/PATH] clears all faults, or those of a path

      A path is \(Endpoints.names.joined(separator: ", ")), opentests or * for all.
      Without a count a fault lasts until it is cleared. Faults of a path are applied in the order of the requests for them.
      Faults: \(Fault.help).
      """)

  @Option(help: "Address to listen on.") var host = "127.0.0.1"
  @Option(help: "Port to listen on; 0: any free one.") var port = 0
  @Option(help: "SQLite file with clients, tests and requests, or :memory:.") var database = ":memory:"
  @Option(help: "Secret of the ping server; tokens are made with the first one. Repeatable. (default: demo-secret)")
  var secret: [String] = []
  @Option(help: "Ping server for clients that connect over IPv4.") var pingHost = "127.0.0.1"
  @Option(name: .customLong("ping-host-ipv6"), help: "Ping server for clients that connect over IPv6.")
  var pingHostIPv6 = "::1"
  @Option(help: "UDP port of the ping server.") var pingPort = 4440
  @Option(help: "Longest duration of a drive, as clients get it.") var maxSessionSeconds = 14_400
  @Option(help: "Longest duration of a session, as clients get it.") var maxMeasurementSeconds = 3_600
  @Flag(
    name: .customLong("trust-x-real-ip"),
    help: "Use the header X-Real-IP, if present, as the client's address.") var trustRealIP = false
  @Flag(help: "Accept bodies in gzip, and announce it in each answer (RFC 7694); the real server does not.")
  var gzip = false
  @Option(help: "PATH:FAULT[:COUNT], a fault to start with. Repeatable.") var fault: [String] = []
  @OptionGroup(title: "Speed tests") var measurement: MeasurementArguments
  @Option(help: "Serve HTTPS with this certificate chain, a PEM file; needs --key.") var certificate: String?
  @Option(help: "Private key of the certificate, a PEM file.") var key: String?

  func validate() throws {
    guard (0...65_535).contains(port), (0...65_535).contains(pingPort) else {
      throw ValidationError("A port is 0 to 65535.")
    }
    guard (certificate == nil) == (key == nil) else { throw ValidationError("--certificate and --key go together.") }
    for text in fault where PlannedFault(flag: text) == nil {
      throw ValidationError("--fault \(text): expected PATH:FAULT[:COUNT]; faults are \(Fault.help).")
    }
  }

  func run() async throws {
    let store: Store
    do {
      store = try Store(path: database)
    } catch {
      throw Failure(description: "--database \(database): \(error)")
    }
    let scheme = certificate == nil ? "http" : "https"
    let endpoints = Endpoints(store: store, options: options)
    let plan = FaultPlan(fault.compactMap(PlannedFault.init(flag:)))
    let responder = Responder(
      endpoints: endpoints, backstage: Backstage(store: store, faults: plan), scheme: scheme)
    var logger = Logger(label: "control-server") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .warning
    let host = host
    let application = Application(
      responder: responder,
      server: try server(),
      configuration: .init(address: .hostname(host, port: port), serverName: "control-server"),
      onServerRunning: { channel in
        let address = host.contains(":") ? "[\(host)]" : host
        Self.announce("\(scheme)://\(address):\(channel.localAddress?.port ?? 0)\(Route.control)")
      },
      logger: logger)
    try await application.runService()
    try store.close()
  }

  private var options: ServerOptions {
    ServerOptions(
      secrets: secret.isEmpty ? ["demo-secret"] : secret, pingHost: pingHost, pingHostIPv6: pingHostIPv6,
      pingPort: pingPort, maxSessionSeconds: maxSessionSeconds, maxMeasurementSeconds: maxMeasurementSeconds,
      trustRealIP: trustRealIP, acceptsGzip: gzip, measurement: measurement.server,
      qos: measurement.qos)
  }

  private func server() throws -> HTTPServerBuilder {
    guard let certificate, let key else { return .http1() }
    guard let context = TLSContext(certificate: certificate, key: key) else {
      let reason = "they need a passphrase, cannot be read, or do not match"
      throw Failure(description: "--certificate \(certificate) --key \(key): \(reason)")
    }
    return HTTPServerBuilder { TLSChannel(base: HTTP1Channel(responder: $0), context: context) }
  }

  /// Prints the line for which scripts wait.
  private static func announce(_ url: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("control-server: listening on \(url)\n".utf8))
  }
}
