import Agent
import ArgumentParser
import Foundation

struct Ping: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Pings by ICMP echo or by RTR's UDP ping.",
    discussion: """
      Without a token, UDP pings carry one that every RTR ping server refuses; a server without a secret says so (RE01), \
      which measures the way as well, the others stay silent.
      Exit status: 0 when every target answered at least once, 1 otherwise.
      """)

  @Argument(help: "Names or addresses.")
  var targets: [String]

  @Option(name: .short, help: "How many pings to each target; until SIGINT without it.")
  var count: UInt64?

  @Option(name: .short, help: "Seconds from ping to ping.")
  var interval = 1.0

  @Option(name: [.customShort("W"), .long], help: "Seconds to wait for an answer.")
  var timeout = 1.0

  @Flag(name: .customShort("4"), help: "IPv4 only.")
  var ipv4 = false

  @Flag(name: .customShort("6"), help: "IPv6 only.")
  var ipv6 = false

  @Option(name: .long, help: "RTR's UDP ping to this port.")
  var udp: UInt16?

  @Option(name: .long, help: "The ping token, Base64, for --udp.")
  var token: String?

  @Flag(name: .long, help: "ICMP echo, the default.")
  var icmp = false

  @Option(name: .long, help: "Ping by this interface or not at all.")
  var interface: String?

  @Flag(name: .long, help: "One JSON object a ping, and a summary.")
  var json = false

  mutating func validate() throws {
    if ipv4, ipv6 { throw ValidationError("-4 and -6 exclude each other.") }
    if udp != nil, icmp { throw ValidationError("--udp and --icmp exclude each other.") }
    if token != nil, udp == nil { throw ValidationError("--token belongs to --udp.") }
    if udp == 0 { throw ValidationError("--udp is 0: expected a port, 1 to 65535.") }
    guard (0.001...3600).contains(interval) else { throw ValidationError("-i is \(interval): expected 0.001 to 3600.") }
    guard (0.001...3600).contains(timeout) else { throw ValidationError("-W is \(timeout): expected 0.001 to 3600.") }
    if let token, PingRun.token(token) == nil { throw ValidationError("--token is not Base64 of 16 bytes.") }
  }

  func run() async throws {
    try await Terminal.run {
      let run = PingRun(
        targets: targets, protocol: udp.map { .rtr(port: $0, token: token.flatMap(PingRun.token)) } ?? .icmp,
        family: ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil, interface: interface, interval: .seconds(interval),
        timeout: .seconds(timeout), count: count ?? 0, format: json ? .json : .text)
      return try await run.run(stop: Terminal.stopSignals(), print: Terminal.result)
    }
  }
}
