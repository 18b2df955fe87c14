import ArgumentParser
import Foundation
import Pinging
import Service
import Settings

struct Ping: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Pings by ICMP echo, by RTR's UDP ping, or by the one-way format.",
    discussion: """
      SIGINT and SIGTERM end it, SIGQUIT prints a summary so far, without the pings in flight. Without a token, RTR pings \
      carry an unsigned one; a server without a secret refuses it (RE01): the path works, but there is no answer, \
      and no round trip is counted. Other servers stay silent. A target that cannot be pinged does not affect the others. \
      A name is resolved again after 30 s of silence. The fields of --json are in docs/measuring.md.
      Exit status: 0 when every target answered in time at least once; 1 otherwise (refusals are no answers), or when it \
      cannot ping; 64 wrong usage.
      """)

  @Argument(help: "Names or addresses.")
  var targets: [String] = []

  @Option(
    name: [.customShort("F"), .long], help: "Targets from a file, one a line; - for standard input.",
    completion: .file())
  var file: String?

  @OptionGroup var timing: PingTiming
  @OptionGroup var kind: PingProtocol
  @OptionGroup var packet: PingPacket
  @OptionGroup var pace: PingPace
  @OptionGroup var output: PingOutput
  @OptionGroup var captureOptions: CaptureOptions

  mutating func validate() throws {
    if targets.isEmpty, file == nil { throw ValidationError("Missing expected argument '<targets> ...'.") }
    if kind.raw || kind.datagram, kind.udp != nil { throw ValidationError("--raw and --datagram are for ICMP.") }
    if packet.size != nil, kind.udp != nil, !kind.oneway {
      throw ValidationError("-s: RTR's ping has a size of its own.")
    }
    let leastSize: UInt16 = kind.oneway ? 72 : 12
    if let size = packet.size, size < leastSize {
      throw ValidationError("-s is \(size): expected \(leastSize) to 65507.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      let list = try targetsFromFile()
      guard !(targets + list.names).isEmpty || !list.problems.isEmpty else {
        throw ValidationError("There is no target in \(file ?? "-").")
      }
      let run = PingRun(targets: targets + list.names, problems: list.problems, options: options)
      return try await run.run(
        stop: await Terminal.stopSignalsOrLostReader(), interim: await Terminal.interimSignals(),
        print: Terminal.result,
        note: Terminal.note)
    }
  }

  private var options: PingOptions {
    var options = PingOptions()
    options.target = target
    options.family = kind.ipv4 ? .ipv4 : kind.ipv6 ? .ipv6 : nil
    options.source = packet.source
    options.deadline = timing.deadline.map { .seconds($0) }
    options.linger = .seconds(output.linger)
    options.output = .init(format: output.json ? .json : .text, isQuiet: output.quiet, isVerbose: output.verbose)
    options.leastOutage = output.outage
    options.isRealtime = pace.realtime
    options.remembered = pace.remember
    options.threads = output.threads
    options.capture = captureOptions.settings
    return options
  }

  private var target: PingTarget {
    var target = PingTarget(
      address: .unresolved(port: kind.udp ?? 0), echo: echo, interface: packet.interface,
      interval: pace.flood && timing.interval == nil ? .zero : .seconds(timing.interval ?? 1),
      timeout: .seconds(timing.timeout),
      count: timing.count ?? 0)
    target.socket = kind.raw ? .raw : kind.datagram ? .datagram : .any
    target.awaitsInterface = packet.awaitsInterface
    target.floodWindow = pace.flood ? pace.window ?? 64 : nil
    target.size = packet.size
    target.isFragmentationForbidden = packet.dontFragment
    target.hopLimit = packet.ttl
    // A flood's time is short, and nobody reads the TTL of each answer.
    target.reportsHopLimit = !pace.flood
    target.trafficClass = packet.trafficClass ?? (packet.dscp ?? 0) << 2
    target.mark = packet.mark ?? 0
    return target
  }

  private var echo: PingTarget.Echo {
    if kind.udp == nil { return .icmp }
    return kind.oneway ? .oneWay : .rtr(token: kind.token.flatMap(PingOptions.token) ?? PingOptions.unsignedToken)
  }

  /// At most 16 MiB; bytes that are not UTF-8 become replacement characters, and their line a name that cannot be resolved.
  private func targetsFromFile() throws -> PingTargetList {
    guard let file else { return PingTargetList() }
    let data = try InputFile.contents(file, limit: 1 << 24)
    return PingTargetList(String(decoding: data, as: UTF8.self), file: file == "-" ? "standard input" : file)
  }
}

/// When pings are sent, and how long an answer is awaited.
struct PingTiming: ParsableArguments {
  @Option(
    name: .short, parsing: .unconditional, help: "How many pings to each target. Default: until SIGINT.",
    transform: whole(from: 1))
  var count: UInt64?

  @Option(
    name: .short, parsing: .unconditional, help: "Seconds between two pings to a target. Default: 1; with -f: none.",
    transform: seconds())
  var interval: Double?

  @Option(
    name: [.customShort("W"), .long], parsing: .unconditional, help: "Seconds to wait for an answer. Default: 1.",
    transform: seconds())
  var timeout = 1.0

  @Option(
    name: [.customShort("w"), .long], parsing: .unconditional,
    help: "End after this many seconds; pings under way are cancelled. Default: no limit.",
    transform: seconds())
  var deadline: Double?
}

/// The protocol of the pings, and its IP version.
struct PingProtocol: ParsableArguments {
  @Flag(name: .customShort("4"), help: "IPv4 only.")
  var ipv4 = false

  @Flag(name: .customShort("6"), help: "IPv6 only.")
  var ipv6 = false

  @Option(
    name: .long, parsing: .unconditional, help: "RTR's UDP ping to this port.",
    transform: whole(1...65_535))
  var udp: UInt16?

  @Option(name: .long, help: "The ping token, Base64, for --udp. Default: an unsigned one.")
  var token: String?

  @Flag(name: .long, help: "With --udp: the one-way format, which splits losses and variation into up and down.")
  var oneway = false

  @Flag(name: .long, help: "ICMP echo, the default.")
  var icmp = false

  @Flag(name: .long, help: "ICMP with a raw socket only.")
  var raw = false

  @Flag(name: .long, help: "ICMP with a datagram socket only.")
  var datagram = false

  mutating func validate() throws {
    for (contradicts, names) in [
      (ipv4 && ipv6, "-4 and -6"), (udp != nil && icmp, "--udp and --icmp"),
      (token != nil && oneway, "--token and --oneway"), (raw && datagram, "--raw and --datagram"),
    ] where contradicts {
      throw ValidationError("\(names) exclude each other.")
    }
    if token != nil || oneway, udp == nil { throw ValidationError("--token and --oneway belong to --udp.") }
    if let token, PingOptions.token(token) == nil { throw ValidationError("--token is not Base64 of 16 bytes.") }
  }
}

/// Where packets leave, and their headers.
struct PingPacket: ParsableArguments {
  @Option(name: [.customShort("I"), .long], help: "Ping through this interface only. Default: the route decides.")
  var interface: String?

  @Option(name: [.customShort("S"), .long], help: "The source address of the pings. Default: the kernel's choice.")
  var source: String?

  @Flag(name: .customLong("await"), help: "Wait until the interface and the source address exist.")
  var awaitsInterface = false

  @Option(
    name: [.short, .long], parsing: .unconditional,
    help: "Bytes of payload (ICMP) or of the datagram (one-way). Default: 56, or 72.",
    transform: whole(12...65_507))
  var size: UInt16?

  @Flag(name: .customShort("D"), help: "Forbid fragmentation.")
  var dontFragment = false

  @Option(
    name: [.short, .long], parsing: .unconditional, help: "TTL or hop limit. Default: the host's.",
    transform: whole(1...255))
  var ttl: UInt8?

  @Option(
    name: .long, parsing: .unconditional, help: "Differentiated services code point, 0 to 63. Default: 0.",
    transform: whole(0...63))
  var dscp: UInt8?

  @Option(
    name: .customShort("Q"), parsing: .unconditional,
    help: "The whole traffic class byte, 0 to 255 (DSCP times four), also as 0x..",
    transform: trafficClassByte)
  var trafficClass: UInt8?

  @Option(
    name: [.short, .long], parsing: .unconditional, help: "Mark for policy routing. Default: none.",
    transform: whole(0...UInt32.max))
  var mark: UInt32?

  mutating func validate() throws {
    if dscp != nil, trafficClass != nil { throw ValidationError("--dscp and -Q exclude each other.") }
    // An over-long name would be truncated, possibly to the name of another interface.
    if let interface, !(1...15).contains(interface.utf8.count) {
      throw ValidationError("-I is \"\(interface)\": expected the name of an interface, 1 to 15 bytes.")
    }
  }
}

/// Floods, and what is remembered of pings.
struct PingPace: ParsableArguments {
  @Flag(name: [.short, .long], help: "Flood: as fast as answers come; -i is then the least average interval.")
  var flood = false

  @Option(
    name: .long, parsing: .unconditional, help: "With -f: the most pings under way. Default: 64.",
    transform: whole(1...65_536))
  var window: UInt32?

  @Option(
    name: .long, parsing: .unconditional,
    help:
      "Pings remembered after their verdict, to recognise late and duplicate replies. Default: 65536.",
    transform: whole(from: 1))
  var remember: UInt32?

  @Flag(name: .long, help: "SCHED_FIFO for floods too, where permitted; other pings always use it.")
  var realtime = false

  mutating func validate() throws {
    if window != nil, !flood { throw ValidationError("--window belongs to -f.") }
  }
}

/// What is printed, and when a run ends.
struct PingOutput: ParsableArguments {
  @Flag(name: [.short, .long], help: "Summaries only.")
  var quiet = false

  @Flag(name: .long, help: "One JSON object for each ping, and a summary; with -q the summary only.")
  var json = false

  @Flag(name: [.short, .long], help: "Print at the start how the pings are scheduled.")
  var verbose = false

  @Option(
    name: .long, parsing: .unconditional, help: "This many pings in a row without an answer are an outage. Default: 3.",
    transform: whole(from: 1))
  var outage: UInt64 = 3

  @Option(
    name: .long, parsing: .unconditional, help: "Seconds to wait for late replies after the last verdict.",
    transform: seconds(from: 0))
  var linger = 0.0

  @Option(
    name: .long, parsing: .unconditional, help: "The number of threads that share the targets. Default: 1.",
    transform: whole(1...64))
  var threads = 1
}

/// Reads decimal or `0x` and hexadecimal digits. The first character must be a digit: integers of Swift accept a sign too.
private func trafficClassByte(_ text: String) throws -> UInt8 {
  let isHexadecimal = text.hasPrefix("0x")
  let digits = isHexadecimal ? text.dropFirst(2) : text[...]
  guard digits.first?.isHexDigit == true, let value = UInt8(digits, radix: isHexadecimal ? 16 : 10)
  else { throw ValidationError("expected 0 to 255, or 0x0 to 0xff.") }
  return value
}

private func seconds(from least: Double = 0.001) -> @Sendable (String) throws -> Double {
  { text in
    guard let value = Double(text), (least...86_400).contains(value) else {
      throw ValidationError("expected seconds, \(least == 0 ? "0" : "\(least)") to 86400.")
    }
    return value
  }
}

private func whole<Number: FixedWidthInteger & Sendable>(
  _ range: ClosedRange<Number>
) -> @Sendable (String) throws -> Number {
  { text in
    guard let value = Number(text), range.contains(value) else {
      throw ValidationError("expected \(range.lowerBound) to \(range.upperBound).")
    }
    return value
  }
}

private func whole<Number: FixedWidthInteger & Sendable>(
  from least: Number
) -> @Sendable (String) throws -> Number {
  { text in
    guard let value = Number(text), value >= least else { throw ValidationError("expected \(least) or more.") }
    return value
  }
}
