import Foundation
import TestSupport
import Testing

/// The built `ping` against the real reflector and the kernel, on loopback.
@Suite(.serialized)
struct PingTests {
  private func start(_ arguments: String...) throws -> RunningProgram { try start(arguments) }

  private func start(_ arguments: [String]) throws -> RunningProgram {
    try .product("coverage-probe", ["ping"] + arguments)
  }

  private func run(_ arguments: String...) async throws -> Field.Finished {
    let program = try start(arguments)
    let status = try await program.exitStatus()
    return Field.Finished(status: status, output: program.standardOutput, errors: program.standardError)
  }

  private func oneWay(_ options: String...) async throws -> (reflector: ReflectorTool, options: [String]) {
    let reflector = try await ReflectorTool(["--one-way"] + options)
    return (reflector, ["--udp", "\(reflector.port)", "--oneway"])
  }

  private func summary(_ finished: Field.Finished, of target: String? = nil) throws -> [String: Any] {
    let all = finished.lines.compactMap { $0["summary"] as? [String: Any] }
    return try #require(all.first { target == nil || $0["target"] as? String == target }, "\(finished.output)")
  }

  /// The program's peak memory so far, in MiB.
  private func peak(of program: RunningProgram) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber))) / 1024
  }

  /// The number of pings with a verdict in the output, by target.
  private func verdicts(of program: RunningProgram) -> [String: Int] {
    var verdicts: [String: Int] = [:]
    for line in Field.Finished(status: 0, output: program.standardOutput, errors: "").lines {
      guard let target = line["target"] as? String else { continue }
      verdicts[target, default: 0] += line["count"] as? Int ?? 1
    }
    return verdicts
  }

  @Test(
    "when five hundred targets are pinged, then every ping has one line, in little memory",
    .enabled(if: Surroundings.mayCapture, "echoes need CAP_NET_RAW"))
  func manyTargets() async throws {
    let folder = try TemporaryFolder()
    let targets = (0..<500).map { "127.0.\(1 + $0 / 250).\(1 + $0 % 250)" }
    let list = try folder.write(targets.joined(separator: "\n"), to: "targets")
    // It lingers so that its memory can still be read.
    let program = try start("-F", list, "-c", "3", "-i", "1", "--json", "--linger", "600")
    var length = 0
    let verdicts = try await eventually("all have their verdicts") { () -> [String: Int]? in
      let now = program.standardOutput.utf8.count
      defer { length = now }
      guard now == length else { return nil }
      let found = self.verdicts(of: program)
      return found.values.reduce(0, +) >= 1500 ? found : nil
    }
    let peak = try self.peak(of: program)
    #expect(peak < 120, "\(peak) MiB")
    #expect(Set(verdicts.values) == [3])
    #expect(Set(verdicts.keys) == Set(targets))
    program.signal(SIGTERM)
    #expect(try await program.exitStatus() == 0, "\(program.standardError)")
    let lines = Field.Finished(status: 0, output: program.standardOutput, errors: "").lines
    #expect(lines.count { $0["summary"] != nil } == 500)
    #expect(!lines.contains { $0["missing_events"] != nil })
  }

  @Test("when one of the targets cannot be pinged, then one line says so, the others continue, and the status is 1")
  func badTarget() async throws {
    let (reflector, options) = try await oneWay()
    let program = try start(["no-such-host.invalid", "127.0.0.1", "-c", "2", "-i", "0.2", "--json"] + options)
    #expect(try await program.exitStatus() == 1)
    #expect(program.standardError.contains("no-such-host.invalid"))
    #expect(program.standardError.split(separator: "\n").count == 1, "\(program.standardError)")
    let finished = Field.Finished(status: 1, output: program.standardOutput, errors: "")
    #expect(finished.lines.count { $0["summary"] != nil } == 1)
    #expect(try summary(finished, of: "127.0.0.1")["answered"] as? Int == 2)
    try await reflector.program.stop()
  }

  @Test("when no target can be pinged, then each has its line")
  func onlyBadTargets() async throws {
    let finished = try await run("127.0.0.1", "127.0.0.2", "-c", "1", "--udp", "9", "--oneway", "-I", "nosuchinterface")
    #expect(finished.status == 1)
    let lines = finished.errors.split(separator: "\n")
    #expect(lines.count == 2, "\(finished.errors)")
    #expect(lines.allSatisfy { $0.contains("nosuchinterface") })
    #expect(finished.output.isEmpty)
  }

  @Test(
    "when a capture is made under the path of an earlier one, then the earlier file stays, and the numbers continue",
    .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
  func secondCapture() async throws {
    let folder = try TemporaryFolder()
    var first: Data?
    for number in 1...2 {
      let finished = try await run("127.0.0.1", "-c", "2", "-i", "0.2", "--capture", folder.file("ping"), "--json")
      #expect(finished.status == 0, "\(finished.errors)")
      let capture = finished.lines.last?["capture"] as? [String: Any]
      #expect(capture?["files"] as? [String] == [folder.file("ping-000\(number).pcap")])
      #expect(capture?["packets"] as? Int == 4)
      first = first ?? FileManager.default.contents(atPath: folder.file("ping-0001.pcap"))
    }
    #expect(FileManager.default.contents(atPath: folder.file("ping-0001.pcap")) == first)
    #expect(FileManager.default.fileExists(atPath: folder.file("ping-0002.pcap")))
  }

  @Test("when a host reports that a port is closed, then the line has type, code, reporter and wall-clock time")
  func icmpError() async throws {
    let before = Int(Date.now.timeIntervalSince1970 * 1e9)
    let finished = try await run("127.0.0.1", "-c", "2", "-i", "0.2", "--udp", "9", "--oneway", "--json")
    let after = Int(Date.now.timeIntervalSince1970 * 1e9)
    #expect(finished.status == 1)
    let errors = finished.lines.filter { $0["verdict"] as? String == "icmp-error" }
    #expect(errors.count == 2, "\(finished.output)")
    for error in errors {
      #expect(error["icmp_type"] as? Int == 3)
      #expect(error["icmp_code"] as? Int == 3)
      #expect(error["from"] as? String == "127.0.0.1")
      #expect((before...after).contains(error["wall_ns"] as? Int ?? 0))
    }
  }

  @Test("when the server refuses the token of each ping, then none counts as answered or measured, and the status is 1")
  func refusals() async throws {
    let reflector = try await ReflectorTool([])
    let finished = try await run("127.0.0.1", "-c", "3", "-i", "0.2", "--udp", "\(reflector.port)", "--json")
    #expect(finished.status == 1)
    let summary = try summary(finished)
    #expect(summary["refused"] as? Int == 3)
    #expect(summary["answered"] as? Int == 0)
    #expect(summary["loss"] as? Double == 0)
    #expect(summary["rtt_ms"] == nil && summary["ipdv_ms"] == nil)
    try await reflector.program.stop()
  }

  @Test("when a summary is requested during a run, then pings in flight are distinguished from lost ones")
  func interim() async throws {
    let (reflector, options) = try await oneWay("--drop", "100")
    let program = try start(
      ["127.0.0.1", "-c", "5", "-i", "0.2", "-W", "60", "--json", "--verbose"] + options)
    _ = try await eventually("it has begun, and takes signals") { program.standardError.isEmpty ? nil : () }
    let interim = try await eventually("five pings are in flight") { () -> [String: Any]? in
      program.signal(SIGQUIT)
      let lines = Field.Finished(status: 0, output: program.standardOutput, errors: "").lines
      return lines.compactMap { $0["interim"] as? [String: Any] }.first { $0["in_flight"] as? Int == 5 }
    }
    #expect(interim["sent"] as? Int == 0)
    #expect(interim["lost"] as? Int == 0)
    #expect(interim["loss"] == nil)
    // The first stop waits for pings in flight; the second does not.
    program.signal(SIGINT)
    program.signal(SIGTERM)
    #expect(try await program.exitStatus() == 1)
    let end = try summary(Field.Finished(status: 1, output: program.standardOutput, errors: ""))
    #expect(end["cancelled"] as? Int == 5)
    #expect(end["in_flight"] == nil)
    try await reflector.program.stop()
  }

  @Test("when the deadline comes with thousands of pings in flight, then each is cancelled, and no event is missing")
  func deadline() async throws {
    let (reflector, options) = try await oneWay("--drop", "100")
    let targets = [String](repeating: "127.0.0.1", count: 300)
    let program = try start(targets + ["-i", "0.1", "-W", "60", "-w", "2", "--json"] + options)
    #expect(try await program.exitStatus() == 1)
    let lines = Field.Finished(status: 1, output: program.standardOutput, errors: "").lines
    let cancelled = lines.count { $0["verdict"] as? String == "cancelled" }
    // More than the pinger's ring holds.
    #expect(cancelled > 4500)
    #expect(lines.compactMap { ($0["summary"] as? [String: Any])?["cancelled"] as? Int }.reduce(0, +) == cancelled)
    #expect(lines.last?["missing_events"] == nil, "\(lines.last ?? [:])")
    try await reflector.program.stop()
  }

  @Test("when --verbose is set, then one line says how pings are scheduled; without it there is no line")
  func scheduling() async throws {
    let (reflector, options) = try await oneWay()
    for (more, expected) in [([], 0), (["--verbose"], 1), (["-v", "--threads", "2", "127.0.0.2"], 1)] {
      let program = try start(["127.0.0.1", "-c", "1", "-W", "0.1"] + options + more)
      _ = try await program.exitStatus()
      let lines = program.standardError.split(separator: "\n")
      #expect(lines.count == expected, "\(program.standardError)")
      #expect(
        lines.allSatisfy { $0.hasPrefix("pinging as SCHED_FIFO") || $0.hasPrefix("pinging without SCHED_FIFO: ") })
    }
    try await reflector.program.stop()
  }

  @Test("when pings flood from several threads, then every ping has its verdict, and the summaries are in target order")
  func flood() async throws {
    let (reflector, options) = try await oneWay()
    let targets = ["127.0.0.1", "localhost", "127.0.0.1", "127.0.0.1"]
    for threads in ["1", "3"] {
      let program = try start(
        targets + ["-f", "-q", "-c", "5000", "-W", "30", "-4", "--window", "16", "--threads", threads] + options)
      #expect(try await program.exitStatus() == 0, "\(program.standardError)")
      let summaries = program.standardOutput.split(separator: "\n").filter { !$0.hasPrefix(" ") }
      #expect(
        summaries.map { $0.prefix { $0 != "(" } } == [
          "127.0.0.1: 5000 sent, 5000 answered, 0 lost ", "localhost ", "127.0.0.1: 5000 sent, 5000 answered, 0 lost ",
          "127.0.0.1: 5000 sent, 5000 answered, 0 lost ",
        ])
      #expect(summaries.count { $0.contains("5000 sent, 5000 answered") } == 4, "\(program.standardOutput)")
    }
    try await reflector.program.stop()
  }

  @Test("when lines of a file are no targets, then each is reported with its number, and the others are pinged")
  func file() async throws {
    let (reflector, options) = try await oneWay()
    let folder = try TemporaryFolder()
    let list = try folder.write(
      "127.0.0.1\n\n127.0.0.1 127.0.0.2\n::1\n\(String(repeating: "x", count: 100_000))\n  127.0.0.1 # a comment",
      to: "list")
    let program = try start(["-4", "-c", "2", "-i", "0.2", "-W", "30", "-q", "-F", list] + options)
    #expect(try await program.exitStatus() == 1)
    let lines = program.standardError.split(separator: "\n")
    #expect(lines.count == 3, "\(program.standardError)")
    #expect(lines.contains { $0.hasSuffix("\(list):3: the line has more than one target") })
    #expect(lines.contains { $0.hasSuffix("\(list):5: the line is longer than 1000 bytes") })
    #expect(lines.contains { $0.contains("::1") })
    #expect(program.standardOutput.components(separatedBy: "2 answered").count == 3, "\(program.standardOutput)")
    try await reflector.program.stop()
  }

  @Test("when a run lingers, then replies after the last verdict count as late; otherwise it does not wait for them")
  func lingering() async throws {
    // Long after the end of the run without --linger, even on a busy host.
    let (reflector, options) = try await oneWay("--delay", "4000")
    let arguments = ["127.0.0.1", "-c", "2", "-i", "0.2", "-W", "0.05", "--json"] + options
    func finished(_ program: RunningProgram) async throws -> [String: Any] {
      let status = try await program.exitStatus()
      return try summary(Field.Finished(status: status, output: program.standardOutput, errors: ""))
    }
    let hasty = try await finished(try start(arguments))
    #expect(hasty["late"] as? Int == 0)

    let patient = try start(arguments + ["--linger", "600"])
    _ = try await eventually("two replies are late") {
      patient.standardOutput.components(separatedBy: #""verdict":"late""#).count == 3 ? () : nil
    }
    patient.signal(SIGTERM)
    let end = try await finished(patient)
    #expect((end["lost"] as? Int, end["late"] as? Int) == (2, 2))
    try await reflector.program.stop()
  }

  @Test("when --await waits for an interface that never appears, then no ping is sent, and each line says why")
  func awaiting() async throws {
    let finished = try await run(
      "127.0.0.1", "-c", "2", "-i", "0.2", "--udp", "9", "--oneway", "-I", "nosuch0", "--await", "--json")
    #expect(finished.status == 1)
    #expect(finished.lines.count { $0["verdict"] as? String == "not-sent" && $0["reason"] is String } == 2)
    #expect(try summary(finished)["not_sent"] as? Int == 2)
  }

  @Test("when options contradict each other or are out of range, then the status is 64 and the line names the option")
  func usage() async throws {
    for (arguments, named) in [
      (["--raw", "--datagram"], "--raw and --datagram"), (["--raw", "--udp", "9"], "--raw"),
      (["--window", "9"], "--window"), (["-f", "--window", "0"], "--window"), (["--outage", "0"], "--outage"),
      (["--remember", "0"], "--remember"), (["-Q", "256"], "-Q"), (["-Q", "0x1g"], "-Q"), (["-Q", "0x+5"], "-Q"),
      (["-Q", "+5"], "-Q"),
      (["-Q", "8", "--dscp", "2"], "--dscp and -Q"), (["--linger", "-1"], "--linger"),
    ] {
      let program = try start(["127.0.0.1", "-c", "1"] + arguments)
      #expect(try await program.exitStatus() == 64, "\(arguments)")
      #expect(program.standardError.contains(named), "\(program.standardError)")
    }
    let good = try await run(
      "127.0.0.1", "-c", "1", "-W", "0.1", "--udp", "9", "--oneway", "-Q", "0xb8", "--outage", "1")
    #expect(good.status == 1, "\(good.errors)")
  }
}
