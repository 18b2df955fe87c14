import Foundation
import TestSupport
import Testing

/// The answer of `doctor --json`.
struct DoctorReport: Decodable {
  struct Finding: Decodable {
    let subject, grade, text: String
    let advice: String?
  }
  let ready: Bool
  let findings: [Finding]

  /// Warnings and faults, except those of a busy machine: late wakeups, slow writes, and the player's clock, which starts before the
  /// other programs.
  var wrong: [Finding] {
    let busy = ["of sleeps end", "fences wait for it", "the receiver's time differs from the host's by -"]
    return findings.filter { finding in
      ["warning", "fault"].contains(finding.grade) && !busy.contains { finding.text.contains($0) }
    }
  }

  /// Runs `doctor` and then a short drive on the same host.
  /// - Parameter start: Starts the program with arguments.
  /// - Returns: The report, and whether the drive has a fence with an answered ping.
  static func besideDrive(
    _ start: ([String]) throws -> RunningProgram
  ) async throws -> (report: DoctorReport, status: Int32, isMeasured: Bool) {
    let doctor = try start(["doctor", "--json"])
    let status = try await doctor.exitStatus()
    let report = try JSONDecoder().decode(DoctorReport.self, from: Data(doctor.standardOutput.utf8))
    let record = try start(["record", "--duration", "6s", "--no-submit"])
    _ = try await record.exitStatus()
    let export = try start(["export", "--state", "all", "--format", "jsonl"])
    _ = try await export.exitStatus()
    let answered = export.standardOutput.matches(of: /"pings_ok":(\d+)/).compactMap { Int($0.1) }
    return (report, status, answered.contains { $0 > 0 })
  }
}

/// `doctor` on a host where a drive can be recorded, and with one deliberate fault at a time, beside a drive on the same host.
struct DoctorTests {

  /// A fault, and the text with which `doctor` must report it.
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// `FOLDER` stands for the folder of the test.
    var environment: [String: String] = [:]
    var track = "48.2082,16.3738,10.0,0.0,200.0,4.0"
    var server: [String] = []
    var reflector: [String] = []
    /// Whether the server has an untrusted certificate.
    var isSecure = false
    var isReady = false
    let subject: String
    let words: String

    static let all = [
      Fault(
        testDescription: "a mistake in the configuration", environment: ["COVERAGE_PROBE_PINGS_TIMEOUT": "later"],
        subject: "configuration", words: "COVERAGE_PROBE_PINGS_TIMEOUT is \"later\": expected a duration"),
      Fault(
        testDescription: "no control server", environment: ["COVERAGE_PROBE_CONTROL_SERVER_URL": ""],
        subject: "configuration", words: "control-server.url is not set"),
      Fault(
        testDescription: "a file in the place of the state directory",
        environment: ["COVERAGE_PROBE_STATE_DIRECTORY": "FOLDER/config.yaml"],
        subject: "state", words: "cannot be written to: Not a directory"),
      Fault(
        testDescription: "a file that is no store", environment: ["COVERAGE_PROBE_STATE_DIRECTORY": "FOLDER/broken"],
        isReady: true, subject: "state", words: "the store cannot be read: "),
      Fault(
        testDescription: "a state directory that every user may enter",
        environment: ["COVERAGE_PROBE_STATE_DIRECTORY": "FOLDER/open"], isReady: true,
        subject: "state", words: "every user of this host may enter"),
      Fault(
        testDescription: "no gpsd", environment: ["COVERAGE_PROBE_GPSD_PORT": "9"],
        subject: "receiver", words: "no gpsd at 127.0.0.1:9: cannot connect"),
      Fault(
        testDescription: "a receiver that gpsd does not have",
        environment: ["COVERAGE_PROBE_GPSD_DEVICE": "/dev/ttyUSB7"],
        subject: "receiver", words: "but gpsd.device is /dev/ttyUSB7"),
      Fault(
        testDescription: "no sky", track: ",,,,,", subject: "receiver", words: "no usable position in 8.0 seconds"),
      Fault(
        testDescription: "little sky", track: "48.2082,16.3738,10.0,0.0,200.0,40.0",
        subject: "receiver", words: "fences need 15 m or better: no fence begins"),
      Fault(
        testDescription: "a name that does not resolve",
        environment: ["COVERAGE_PROBE_CONTROL_SERVER_URL": "http://control.invalid/x"],
        subject: "server", words: "cannot find the address of control.invalid"),
      Fault(
        testDescription: "the control server's port closed",
        environment: ["COVERAGE_PROBE_CONTROL_SERVER_URL": "http://127.0.0.1:9/x"],
        subject: "server", words: "Connection refused"),
      Fault(
        testDescription: "a certificate that is not trusted", isSecure: true, subject: "server", words: "certificate"),
      Fault(
        testDescription: "a captive portal", server: ["--fault", "settings:html"],
        subject: "server", words: "or a captive portal"),
      Fault(
        testDescription: "too many requests", server: ["--fault", "settings:429"],
        subject: "server", words: "asks for fewer requests (429"),
      Fault(
        testDescription: "no test", server: ["--fault", "coverageRequest:503"],
        subject: "server", words: "no test: the control server is in trouble (503"),
      Fault(
        testDescription: "a firewall for UDP", reflector: ["--drop", "100"],
        subject: "pings", words: "none of 10 was answered"),
      Fault(
        testDescription: "a network that loses pings", reflector: ["--drop", "50", "--seed", "7"], isReady: true,
        subject: "pings", words: " of 10 answered"),
      Fault(
        testDescription: "a missing interface", environment: ["COVERAGE_PROBE_PINGS_INTERFACE": "nix0"],
        subject: "link", words: "there is no interface nix0"),
      Fault(
        testDescription: "a missing file for the kind of link",
        environment: ["COVERAGE_PROBE_NETWORK_SOURCE": "file:/nonexistent"], isReady: true,
        subject: "link", words: "network.source: /nonexistent: No such file or directory"),
      Fault(
        testDescription: "a command for the technology that cannot be run",
        environment: ["COVERAGE_PROBE_RADIO_SOURCE": "command:FOLDER/config.yaml"], isReady: true,
        subject: "link", words: "config.yaml: Permission denied: the technology stays unknown"),
    ]
  }

  /// The options of a server with a self-signed certificate.
  private static func certificate(in folder: TemporaryFolder) async throws -> [String] {
    let (key, certificate) = (folder.file("key.pem"), folder.file("certificate.pem"))
    let making = try RunningProgram(
      try #require(Surroundings.program("openssl")),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
        certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
      ])
    try #require(try await making.exitStatus() == 0, "\(making.standardError)")
    return ["--certificate", certificate, "--key", key]
  }

  private func report(
    _ fault: Fault?
  ) async throws -> (report: DoctorReport, status: Int32, isMeasured: Bool) {
    let folder = try TemporaryFolder()
    let line = fault?.track ?? "48.2082,16.3738,10.0,0.0,200.0,4.0"
    let track = try folder.write((0..<60).map { "\($0),\(line)\n" }.joined(), to: "track.csv")
    let gps = try await GPSPlayerTool(["--gpsd", track])
    let secure = fault?.isSecure == true ? try await Self.certificate(in: folder) : []
    let field = try await Field(
      gpsdPort: gps.port, keeping: [gps.program, folder], reflectorOptions: fault?.reflector ?? [],
      serverOptions: (fault?.server ?? []) + secure)
    let manager = FileManager.default
    for (name, mode) in [("open", 0o755), ("broken", 0o700)] {
      try manager.createDirectory(
        atPath: field.folder.file(name), withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }
    _ = try field.folder.write("no store\n" + String(repeating: "x", count: 4096), to: "broken/coverage.sqlite")
    let environment = (fault?.environment ?? [:]).mapValues { $0.replacing("FOLDER", with: field.folder.path) }
    return try await DoctorReport.besideDrive {
      try RunningProgram.product(
        "coverage-probe", $0.prefix(1) + ["--config", field.configuration] + $0.dropFirst(), environment: environment)
    }
  }

  @Test("when a drive can be recorded, then doctor finds nothing wrong, and its status is 0")
  func goodHost() async throws {
    let (report, status, isMeasured) = try await report(nil)
    #expect(report.wrong.isEmpty && report.ready && status == 0 && isMeasured, "\(report.findings)")
    #expect(
      Set(report.findings.map(\.subject)) == ["configuration", "host", "state", "link", "receiver", "server", "pings"])
  }

  @Test(
    "when one thing is wrong, then doctor reports only that, with its remedy, and is right about a drive on the same host",
    arguments: Fault.all)
  func faults(_ fault: Fault) async throws {
    let (report, status, isMeasured) = try await report(fault)
    let wrong = report.wrong
    let finding = try #require(wrong.first)
    #expect(wrong.count == 1 && finding.subject == fault.subject && finding.text.contains(fault.words), "\(wrong)")
    #expect(finding.advice != nil || fault.subject == "configuration" || finding.text.contains("chmod"))
    #expect(report.ready == fault.isReady && status == (fault.isReady ? 0 : 1))
    #expect(isMeasured == fault.isReady, "the drive itself decides")
  }

  @Test("when doctor prints text, then each finding is a line with its remedy below, and the last line has the verdict")
  func words() async throws {
    let folder = try TemporaryFolder()
    let program = try RunningProgram.product(
      "coverage-probe", ["doctor"],
      environment: ["COVERAGE_PROBE_STATE_DIRECTORY": folder.file("state"), "COVERAGE_PROBE_GPSD_PORT": "9"])
    #expect(try await program.exitStatus() == 1)
    let lines = program.standardOutput.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("fault   receiver      no gpsd at 127.0.0.1:9") })
    #expect(lines.contains { $0.hasPrefix("                      -> systemctl start gpsd") })
    #expect(lines.last?.hasPrefix("no drive can be recorded: ") == true)
  }

  @Test(
    "when a user may not read the configuration, then that is the only finding, and it is no word about its settings",
    .enabled(if: getuid() == 0, "only root can become another user"))
  func forbidden() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("control-server: { url: \"http://127.0.0.1:9/x\" }\n", to: "config.yaml")
    chmod(file, 0o600)
    let program = try RunningProgram(
      try #require(Surroundings.program("setpriv")),
      [
        "--reuid", "65534", "--regid", "65534", "--clear-groups", Surroundings.product("coverage-probe").path, "doctor",
        "--json", "--config", file,
      ])
    #expect(try await program.exitStatus() == 1)
    let report = try JSONDecoder().decode(DoctorReport.self, from: Data(program.standardOutput.utf8))
    #expect(
      report.findings.map(\.subject) == ["configuration"] && report.findings[0].text.contains("Permission denied"))
    #expect(report.findings[0].advice?.contains("a user who may read the file") == true)
  }

  @Test(
    "when a user may not send ICMP, then doctor notes the kernel's range of groups; root has no such note",
    .enabled(
      if: Surroundings.isPingGroupEmpty && Surroundings.mayCapture && getuid() == 0,
      "needs root and the kernel's default ping_group_range"))
  func pingGroups() async throws {
    let program = Surroundings.product("coverage-probe").path
    let folder = try TemporaryFolder()
    let environment = [
      "COVERAGE_PROBE_STATE_DIRECTORY": folder.file("state"), "COVERAGE_PROBE_GPSD_PORT": "9",
    ]
    let ordinary = try RunningProgram(
      try #require(Surroundings.program("setpriv")),
      ["--reuid", "65534", "--regid", "65534", "--clear-groups", program, "doctor", "--json"], environment: environment)
    _ = try await ordinary.exitStatus()
    let report = try JSONDecoder().decode(DoctorReport.self, from: Data(ordinary.standardOutput.utf8))
    let note = try #require(report.findings.first { $0.text.contains("ping_group_range") }, "\(ordinary.standardError)")
    #expect(note.grade == "note" && note.subject == "host" && note.text.contains("is 1 0;") && note.advice != nil)
    let root = try RunningProgram.product("coverage-probe", ["doctor"], environment: environment)
    _ = try await root.exitStatus()
    #expect(root.standardOutput.contains("ICMP pings are permitted"))
    #expect(!root.standardOutput.contains("ping_group_range"))
  }
}
