import Foundation
import TestSupport
import Testing

/// The commands as a new user, a shell and a supervisor use them.
struct CommandLineTests {
  /// Runs a shell command line; `$PROBE` is the program.
  private func shell(
    _ script: String, _ environment: [String: String] = [:]
  ) async throws -> (status: Int32, output: String, errors: String) {
    let program = try RunningProgram(
      URL(fileURLWithPath: "/bin/bash"), ["-c", script],
      environment: environment.merging(["PROBE": Surroundings.product("coverage-probe").path]) { $1 })
    let status = try await program.exitStatus()
    return (status, program.standardOutput, program.standardError)
  }

  private let driveLog = """
    {"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}
    {"at":0.0,"fix":{"latitude":48.2082,"longitude":16.3738,"accuracy":5.0}}
    {"at":0.1,"ping":{"rtt_ms":31.67}}
    {"at":4.0,"stop":{}}

    """

  // MARK: Configuration

  @Test("when a configuration has two mistakes, then config check names both, and config print prints the rest")
  func configuration() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("gpsd: { port: 0 }\nsotrage: { max-fences: 2000 }\n", to: "config.yaml")
    let check = try await shell("$PROBE config check --config \(file)")
    #expect(check.status == 1 && check.output.isEmpty)
    #expect(
      check.errors == """
        coverage-probe: configuration \(file): unknown key sotrage; did you mean storage?
        coverage-probe: configuration \(file): gpsd.port is "0": expected a port, 1 to 65535

        """)
    let print = try await shell("$PROBE config print --config \(file)")
    #expect(print.status == 1 && print.errors == check.errors)
    #expect(print.output.contains("\n  port: 2947  # default\n"))
    let good = try await shell(
      "$PROBE config print --config \(file) 2>/dev/null | $PROBE config check --config /dev/stdin")
    #expect(good.status == 0 && good.output.hasPrefix("no mistake in "))
  }

  // MARK: Output

  @Test("when output is closed, or its reader goes away, then the command ends with status 0 and no error")
  func closedOutput() async throws {
    let folder = try TemporaryFolder()
    let log = try folder.write(driveLog, to: "drive.jsonl")
    for script in [
      "$PROBE replay \(log) >&-", "$PROBE replay \(log) | true; exit ${PIPESTATUS[0]}",
      "trap '' PIPE; $PROBE replay \(log) | true; exit ${PIPESTATUS[0]}",
    ] {
      let result = try await shell(script)
      #expect(result.status == 0 && result.errors.isEmpty, "\(script): \(result)")
    }
  }

  @Test(
    "when an export or a report has a name, then its ending decides the format, --format overrules it, and others are errors",
    arguments: [
      ("export -o a.gpkg", "a.gpkg", "SQLite format 3"), ("export -o a.GPKG", "a.GPKG", "SQLite format 3"),
      ("export --speed-tests -o t.gpkg", "t.gpkg", "SQLite format 3"), ("export -o a.csv", "a.csv", "id,session,"),
      ("export --format csv -o a.xyz", "a.xyz", "id,session,"), ("export -o a", "a", "{\"type\":\"FeatureCollection\""),
      ("report -o r.html", "r.html", "<!DOCTYPE html>"), ("report -o r.json", "r.json", "{"),
      ("report --json -o r.txt", "r.txt", "{"),
    ])
  func endings(command: String, file: String, beginning: String) async throws {
    let folder = try TemporaryFolder()
    let result = try await store(in: folder, then: "$PROBE \(command) --config config.yaml && head -c 200 \(file)")
    #expect(result.status == 0 && result.output.hasPrefix(beginning), "\(result)")
  }

  @Test(
    "when the ending of an output is unknown, then one line says which there are, and nothing is written",
    arguments: [
      ("export -o a.xyz", ["no format has files named .xyz", ".geojson", ".gpkg", "--format"]),
      ("export -o a.pdf", ["no format has files named .pdf"]),
      ("report -o r.txt", ["no report is named .txt", ".html"]),
      ("report -o r.pdf", ["print it to a PDF", "chromium --headless --print-to-pdf=report.pdf report.html"]),
    ])
  func unknownEndings(command: String, words: [String]) async throws {
    let folder = try TemporaryFolder()
    let result = try await store(in: folder, then: "$PROBE \(command) --config config.yaml; echo $? $(ls -d [ar].*)")
    #expect(result.output == "64\n" && words.allSatisfy(result.errors.contains), "\(result)")
  }

  /// Makes an empty store, and runs a command line in its folder.
  private func store(
    in folder: TemporaryFolder, then script: String
  ) async throws -> (status: Int32, output: String, errors: String) {
    _ = try folder.write(
      "state-directory: \(folder.file("state"))\ncontrol-server: { url: \"http://127.0.0.1:1\" }\n", to: "config.yaml")
    return try await shell(
      "cd \(folder.path) && { $PROBE sessions forget 1 --config config.yaml 2>/dev/null; \(script); }")
  }

  @Test("when the output's disk is full, then one line says so, and the status is 1")
  func fullOutput() async throws {
    let folder = try TemporaryFolder()
    let log = try folder.write(driveLog, to: "drive.jsonl")
    let result = try await shell("$PROBE replay \(log) >/dev/full")
    #expect(result.status == 1)
    #expect(result.errors == "coverage-probe: cannot write standard output: No space left on device\n")
  }

  @Test("when the reader of ping's output goes away, then ping ends", .timeLimit(.minutes(5)))
  func pingIntoHead() async throws {
    let result = try await shell("$PROBE ping -i 0.05 --udp 9 127.0.0.1 2>/dev/null | head -n 1")
    #expect(result.output.split(separator: "\n").count == 1)
  }

  @Test("when an export goes to a full device, then one line says so; with -, it goes to standard output")
  func exportToDevice() async throws {
    let folder = try TemporaryFolder()
    let result = try await shell("$PROBE export -o /dev/full", ["COVERAGE_PROBE_STATE_DIRECTORY": folder.path])
    #expect(result.status == 1)
    #expect(result.errors == "coverage-probe: cannot write /dev/full: No space left on device\n")
    let dash = try await shell("$PROBE export -o -", ["COVERAGE_PROBE_STATE_DIRECTORY": folder.path])
    #expect(dash.output.hasPrefix("{\"type\":\"FeatureCollection\"") && dash.status == 0, "\(dash)")
  }

  @Test(
    "when options of an export contradict each other, then one line says what is wrong, and the status is 64",
    arguments: [
      ("export --format csv --shape circle", "--shape is for geojson, geojsonseq, kml; csv has one form only."),
      ("export --from 2026-11-21 --to 2026-11-20T23:00:00Z", "--from is not before --to: no fence can meet both."),
      ("export --from yesterday", "The value 'yesterday' is invalid for '--from <from>': expected a day or"),
      ("export --bbox 1,2,3", "The value '1,2,3' is invalid for '--bbox <bbox>': expected WEST,"),
      ("export --technology 6G", "The value '6G' is invalid for '--technology <technology>': expected a"),
      ("replay x --format gpkg", "gpkg is for stored fences: see coverage-probe export."),
    ])
  func exportOptions(arguments: String, line: String) async throws {
    let result = try await shell("$PROBE \(arguments)")
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("coverage-probe: \(line)"), "\(result.errors)")
  }

  @Test("when a GeoPackage goes to a pipe or to a file, then no temporary file is left")
  func geoPackage() async throws {
    let folder = try TemporaryFolder()
    let state = ["COVERAGE_PROBE_STATE_DIRECTORY": folder.path]
    let piped = try await shell("TMPDIR=\(folder.path) $PROBE export --format gpkg | head -c 15", state)
    #expect(piped.status == 0 && piped.output == "SQLite format 3", "\(piped)")
    let file = try await shell("$PROBE export --format gpkg --state all -o \(folder.file("drive.gpkg"))", state)
    #expect(file.status == 0 && file.errors.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["drive.gpkg"])
    let noRoom = try await shell("TMPDIR=/proc $PROBE export --format gpkg | cat; exit ${PIPESTATUS[0]}", state)
    #expect(noRoom.status == 1)
    #expect(noRoom.errors.hasPrefix("coverage-probe: cannot make the GeoPackage in /proc: "), "\(noRoom.errors)")
  }

  // MARK: Input

  @Test("when an option's value is out of range, then the line has the value and the range")
  func negativeValues() async throws {
    for (arguments, expected) in [
      ("replay x --minimum-radius -5", "--minimum-radius is -5.0: expected metres, above 0"),
      ("ping -i -1 127.0.0.1", "The value '-1' is invalid for '-i <i>': expected seconds, 0.001 to 86400."),
      (
        "ping --linger nan 127.0.0.1",
        "The value 'nan' is invalid for '--linger <linger>': expected seconds, 0 to 86400."
      ),
      ("ping -c -1 127.0.0.1", "The value '-1' is invalid for '-c <c>': expected 1 or more."),
      ("ping -t 256 127.0.0.1", "The value '256' is invalid for '-t <ttl>': expected 1 to 255."),
      ("record --duration -5s", "--duration is \"-5s\": expected a duration"),
      ("verify x --capture y --limit -1", "--limit is -1: expected 1 to 1000000."),
    ] {
      let result = try await shell("$PROBE " + arguments)
      #expect(result.status == 64)
      #expect(result.errors.hasPrefix("coverage-probe: " + expected), "\(arguments): \(result.errors)")
    }
  }

  @Test("when the configuration comes from standard input, then it is read")
  func standardInput() async throws {
    let folder = try TemporaryFolder()
    let result = try await shell("echo 'state-directory: \(folder.path)' | $PROBE sessions --config /dev/stdin")
    #expect(result.status == 0 && result.output == "no sessions stored\n", "\(result)")
    let submit = try await shell("$PROBE submit")
    #expect(submit.errors.hasSuffix("no --config FILE is given\n") && submit.status == 1, "\(submit)")
  }

  // MARK: Signals and logs

  @Test("when the reader of the log goes away, then the drive continues")
  func logReaderGoes() async throws {
    let field = try await Field(gpsdPort: 1)
    let result = try await shell(
      "$PROBE record --config \(field.configuration) --duration 3s --no-submit 2>&1 >/dev/null | head -n 1; exit ${PIPESTATUS[0]}"
    )
    #expect(result.status == 0)
    let ended = try await field.sessions().filter { $0["finalized_at"] != nil }
    #expect(ended.count == 1, "the drive reached its end")
  }

  @Test("when a drive gets SIGQUIT, then it prints its status, and continues")
  func quit() async throws {
    let field = try await Field(gpsdPort: 1)
    let record = try field.start("record", ["--no-submit"])
    _ = try await eventually("the drive has begun") { record.standardError.contains("no fix  0 fences") ? () : nil }
    let before = record.standardError.ranges(of: "no fix  0 fences").count
    record.signal(SIGQUIT)
    _ = try await eventually("the status") {
      record.standardError.ranges(of: "\n00:00:").count == 1 ? () : nil
    }
    #expect(before >= 1)
    try await field.waitForPings()
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0)
  }

  @Test("when a line is logged, then it begins with date, time and zone")
  func logLines() async throws {
    let field = try await Field(gpsdPort: 1)
    let record = try await field.run("record", ["--duration", "1s", "--no-submit"])
    let stamp = #/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z /#
    let lines = record.errors.split(separator: "\n")
    #expect(!lines.isEmpty && lines.allSatisfy { $0.prefixMatch(of: stamp) != nil }, "\(record.errors)")
  }

  @Test("when no service runs, then a command says so at once, and names a program that uses the state directory")
  func noService() async throws {
    let field = try await Field(gpsdPort: 1)
    let began = ProgressWatch()
    let start = try await field.run("start")
    #expect(start.status == 1 && start.errors.contains("no service answers at"), "\(start.errors)")
    #expect(began.passed < .seconds(4))
    let record = try field.start("record", ["--no-submit"])
    try await field.waitForPings()
    let status = try await field.run("status")
    #expect(status.errors.contains("is in use by process \(record.pid) (coverage-probe record)"), "\(status.errors)")
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0)
  }
}
