import ArgumentParser
import Foundation

/// A measurement server for tests, demos and a user's own lab.
@main
struct MeasurementServerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "measurement-server",
    abstract: "Serves RMBT speed tests: native or by HTTP upgrade, plain or with TLS.",
    discussion: """
      Prints "measurement server: ADDRESS:PORT" when it listens, then a line for each connection. Ends by SIGTERM or SIGINT.
      Faults: \(Fault.list)
      """)

  @Option(help: "The IPv4 address to listen on.")
  var listen = "127.0.0.1"

  @Option(help: "The TCP port; 0: any free one.")
  var port: UInt16 = 0

  @Flag(help: "Expect an HTTP upgrade (RMBThttp); else the server speaks first.")
  var http = false

  @Option(help: "The PEM file of the certificate; TLS on all connections.")
  var certificate: String?

  @Option(help: "The PEM file of the certificate's key.")
  var key: String?

  @Option(help: "The secret of tokens; without it, every token is good.")
  var secret: String?

  @Option(help: "A fault, see above; may be repeated.", transform: { try Fault($0) })
  var fault: [Fault] = []

  @Option(
    name: .customLong("udp-port"), help: "Also answer RTR's UDP pings on this port; 0: any free one. Needs --secret.")
  var udpPort: UInt16?

  @Option(
    name: .customLong("qos-port"),
    help: "Also serve QoS tests (tcp, udp, voip, non_transparent_proxy) on this TCP port; 0: any free one.")
  var qosPort: UInt16?

  @Option(
    name: .customLong("qos-udp-port"),
    help: "A UDP port of QoS tests that is always open, as calls need; may be repeated. Without it: four free ones.")
  var qosUDPPort: [UInt16] = []

  @Option(
    name: .customLong("qos-dns-port"),
    help: "Also answer DNS queries on this UDP port: 127.0.0.1 for each name; 0: any free one.")
  var qosDNSPort: UInt16?

  @Flag(
    name: .customLong("qos-check-tokens"),
    help: "QoS: refuse tokens other than version 1 with the time in ms. Control servers issue none of these.")
  var checksQoSTokens = false

  func validate() throws {
    if (certificate == nil) != (key == nil) { throw ValidationError("--certificate and --key belong together.") }
    if udpPort != nil, secret == nil { throw ValidationError("--udp-port needs --secret.") }
    if checksQoSTokens, secret == nil { throw ValidationError("--qos-check-tokens needs --secret.") }
  }

  func run() throws {
    signal(SIGPIPE, SIG_IGN)
    let context = try certificate.flatMap { certificate in
      try key.map { try ServerTLS(certificate: certificate, key: $0) }
    }
    if let udpPort, let secret {
      let pings = try PingResponder(address: listen, port: udpPort, secret: secret)
      Journal.line("UDP ping: \(listen):\(pings.port)")
      Thread.detachNewThread { pings.run() }
    }
    if let qosDNSPort {
      let resolver = try DNSResponder(address: listen, port: qosDNSPort)
      Journal.line("QoS resolver: \(listen):\(resolver.port)")
      Thread.detachNewThread { resolver.run() }
    }
    let faults = FaultState(fault)
    if let qosPort {
      let host = try QoSHost(
        address: listen, udpPorts: qosUDPPort.isEmpty ? [0, 0, 0, 0] : qosUDPPort,
        secret: checksQoSTokens ? secret : nil, faults: faults)
      let server = try QoSServer(host, port: qosPort, tls: context)
      Journal.line("QoS server: \(listen):\(server.port)")
      Journal.line("QoS UDP ports: \(host.ports.map { String($0.port) }.joined(separator: " "))")
      Thread.detachNewThread { server.run() }
    }
    let listener = try Listener(address: listen, port: port)
    Journal.line("measurement server: \(listen):\(listener.port)")
    while let descriptor = listener.accept() {
      let session = (secret, http, faults)
      Thread.detachNewThread {
        guard !session.2.closesConnection() else {
          close(descriptor)
          return
        }
        do {
          let stream = try PeerStream(descriptor: descriptor, tls: context)
          let measurement = Measurement(stream, secret: session.0, isHTTP: session.1, faults: session.2)
          try measurement.run()
        } catch {
          Journal.line("connection ended: \(error)")
        }
      }
    }
  }
}
