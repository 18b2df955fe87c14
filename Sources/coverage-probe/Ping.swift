import Agent
import ArgumentParser
import Foundation

struct Ping: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Pings by ICMP echo, by RTR's UDP ping, or by the one-way format.",
    discussion: """
      SIGINT and SIGTERM end it, SIGQUIT prints a summary so far. Without a token, RTR pings carry one that no server has \
      signed; a server without a secret refuses it (RE01), which measures the way as well, the others stay silent. \
      A name is resolved again after 30 s of silence.
      Exit status: 0 when every target answered at least once; 1 otherwise, or when it cannot ping; 64 wrong usage.
      """)

  @Argument(help: "Names or addresses.")
  var targets: [String] = []

  @Option(name: [.customShort("F"), .long], help: "Targets from a file, one a line; - for standard input.")
  var file: String?

  @Option(name: .short, help: "How many pings to each target; until SIGINT without it.")
  var count: UInt64?

  @Option(name: .short, help: "Seconds from ping to ping.")
  var interval: Double?

  @Option(name: [.customShort("W"), .long], help: "Seconds to wait for an answer.")
  var timeout = 1.0

  @Option(name: [.customShort("w"), .long], help: "End after so many seconds; pings under way are cancelled.")
  var deadline: Double?

  @Flag(name: .customShort("4"), help: "IPv4 only.")
  var ipv4 = false

  @Flag(name: .customShort("6"), help: "IPv6 only.")
  var ipv6 = false

  @Option(name: .long, help: "RTR's UDP ping to this port.")
  var udp: UInt16?

  @Option(name: .long, help: "The ping token, Base64, for --udp.")
  var token: String?

  @Flag(name: .long, help: "With --udp: the one-way format, which splits losses and variation into up and down.")
  var oneway = false

  @Flag(name: .long, help: "ICMP echo, the default.")
  var icmp = false

  @Option(name: [.customShort("I"), .long], help: "Ping by this interface or not at all.")
  var interface: String?

  @Option(name: [.customShort("S"), .long], help: "The address of this host that pings carry.")
  var source: String?

  @Option(name: [.short, .long], help: "Bytes of payload (ICMP) or of the datagram (one-way).")
  var size: UInt16?

  @Flag(name: .customShort("D"), help: "Forbid fragmentation.")
  var dontFragment = false

  @Option(name: [.short, .long], help: "TTL or hop limit.")
  var ttl: UInt8?

  @Option(name: .long, help: "Differentiated services code point, 0 to 63.")
  var dscp: UInt8?

  @Option(name: [.short, .long], help: "Mark for policy routing.")
  var mark: UInt32?

  @Flag(name: [.short, .long], help: "As fast as answers come in.")
  var flood = false

  @Flag(name: [.short, .long], help: "Nothing but summaries.")
  var quiet = false

  @Flag(name: .long, help: "One JSON object a ping, and a summary.")
  var json = false

  @Option(name: .long, help: "Threads among which the targets are dealt out.")
  var threads = 1

  @OptionGroup var captureOptions: CaptureOptions

  mutating func validate() throws {
    if targets.isEmpty, file == nil { throw ValidationError("Missing expected argument '<targets> ...'.") }
    if ipv4, ipv6 { throw ValidationError("-4 and -6 exclude each other.") }
    if udp != nil, icmp { throw ValidationError("--udp and --icmp exclude each other.") }
    if quiet, json { throw ValidationError("--quiet and --json exclude each other.") }
    if token != nil || oneway, udp == nil { throw ValidationError("--token and --oneway belong to --udp.") }
    if token != nil, oneway { throw ValidationError("--token and --oneway exclude each other.") }
    if udp == 0 { throw ValidationError("--udp is 0: expected a port, 1 to 65535.") }
    if count == 0 { throw ValidationError("-c is 0: expected 1 or more.") }
    if !(1...64).contains(threads) { throw ValidationError("--threads is \(threads): expected 1 to 64.") }
    // Another interface's name would be what is left of a longer one.
    if let interface, !(1...15).contains(interface.utf8.count) {
      throw ValidationError("-I is \"\(interface)\": expected the name of an interface, 1 to 15 bytes.")
    }
    if let size, size < (oneway ? 72 : 12) {
      throw ValidationError("-s is \(size): expected \(oneway ? 72 : 12) to 65507.")
    }
    if let size, size > 65_507 { throw ValidationError("-s is \(size): expected at most 65507.") }
    if size != nil, udp != nil, !oneway { throw ValidationError("-s: RTR's ping has a size of its own.") }
    if ttl == 0 { throw ValidationError("-t is 0: expected 1 to 255.") }
    if let dscp, dscp > 63 { throw ValidationError("--dscp is \(dscp): expected 0 to 63.") }
    for (name, value) in [("-i", interval), ("-W", timeout), ("-w", deadline)] {
      if let value, !(0.001...86_400).contains(value) {
        throw ValidationError("\(name) is \(value): expected 0.001 to 86400.")
      }
    }
    if let token, PingRun.token(token) == nil { throw ValidationError("--token is not Base64 of 16 bytes.") }
  }

  func run() async throws {
    try await Terminal.run {
      let all = targets + (try targetsFromFile())
      guard !all.isEmpty else { throw ValidationError("There is no target in \(file ?? "-").") }
      let run = PingRun(targets: all, options: options)
      return try await run.run(
        stop: await Terminal.stopSignals(), interim: await Terminal.interimSignals(), print: Terminal.result,
        note: Terminal.note)
    }
  }

  private var options: PingRun.Options {
    var options = PingRun.Options()
    if let udp {
      options.pingProtocol = oneway ? .oneWay(port: udp) : .rtr(port: udp, token: token.flatMap(PingRun.token))
    }
    options.family = ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil
    options.interface = interface
    options.source = source
    options.interval = flood && interval == nil ? .zero : .seconds(interval ?? 1)
    options.timeout = .seconds(timeout)
    options.deadline = deadline.map { .seconds($0) }
    options.count = count ?? 0
    options.floodWindow = flood ? 64 : nil
    options.size = size
    options.isFragmentationForbidden = dontFragment
    options.hopLimit = ttl
    options.trafficClass = (dscp ?? 0) << 2
    options.mark = mark ?? 0
    options.format = json ? .json : quiet ? .quiet : .text
    options.threads = threads
    options.capture = captureOptions.settings
    return options
  }

  private func targetsFromFile() throws -> [String] {
    guard let file else { return [] }
    let data = file == "-" ? FileHandle.standardInput.readDataToEndOfFile() : try InputFile.contents(file)
    return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
      .map {
        ($0.split(separator: "#", omittingEmptySubsequences: false).first ?? "").trimmingCharacters(in: .whitespaces)
      }
      .filter { !$0.isEmpty }
  }
}
