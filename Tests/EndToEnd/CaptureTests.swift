import Foundation
import TestSupport
import Testing

/// Packets as evidence for logged pings.
@Suite(.serialized, .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
struct CaptureTests {
  /// A drive of some 150 pings, of which a fifth is lost, captured in files of a few dozen packets.
  private func capturedDrive() async throws -> (field: Field, log: String, files: [String], output: String) {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", track])
    let field = try await Field(gpsdPort: gps.port, keeping: [gps.program], reflectorOptions: ["--drop", "20"])
    let path = field.folder.file("drive")
    let record = try field.start("record", ["--no-submit", "--capture", path, "--capture-size", "8K"])
    _ = try await eventually("150 pings are logged") {
      (try? pings(try field.driveLog()).count).flatMap { $0 >= 150 ? () : nil }
    }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    let files = try FileManager.default.contentsOfDirectory(atPath: field.folder.path)
      .filter { $0.hasSuffix(".pcap") }.map(field.folder.file)
    return (field, try field.driveLog(), files, record.standardOutput)
  }

  private func pings(_ log: String) throws -> [Substring] {
    try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").filter { $0.contains(#""ping":"#) }
  }

  private func verify(_ log: String, _ files: [String]) async throws -> (status: Int32, output: String) {
    // The host of a virtual machine can stop the processor between two stamps of one packet.
    let verify = try RunningProgram.product("coverage-probe", ["verify", log, "--limit", "20000", "--capture"] + files)
    let status = try await verify.exitStatus()
    #expect(verify.standardError.isEmpty, "\(verify.standardError)")
    return (status, verify.standardOutput)
  }

  /// Applies `change` to the first line of the log that matches `isMeant`; an empty result removes it.
  private func altered(
    _ log: String, in folder: TemporaryFolder, where isMeant: @escaping (String) -> Bool, _ change: (String) -> String
  ) throws -> String {
    var lines = try String(contentsOfFile: log, encoding: .utf8).components(separatedBy: "\n")
    // Not one of the last, which may have been under way when the drive ended.
    let index = try #require(lines.prefix(100).firstIndex(where: isMeant))
    lines[index] = change(lines[index])
    return try folder.write(lines.filter { !$0.isEmpty }.joined(separator: "\n") + "\n", to: "altered.jsonl")
  }

  @Test("when a drive is captured, then the capture confirms its log, and contradicts a changed one")
  func drive() async throws {
    let (field, log, files, output) = try await capturedDrive()
    #expect(files.count > 1)
    #expect(output.contains("capture: \(files.count) files, "))
    #expect(output.contains(", 0 dropped by the kernel"))
    let result = try await verify(log, files.sorted().reversed())
    #expect(result.status == 0, "\(result.output)")
    let lost = try pings(log).count { $0.contains(#""error":"timeout""#) }
    #expect(lost > 0)
    #expect(result.output.contains(" \(lost) lost in both"), "\(result.output)")
    #expect(result.output.contains("the capture confirms the drive log"))

    let slower = try altered(log, in: field.folder, where: { $0.contains("rtt_ms") }) {
      $0.replacing("\"rtt_ms\":", with: "\"rtt_ms\":7")
    }
    let found = try await verify(slower, files)
    #expect(found.status == 1)
    #expect(found.output.contains("1 ping with another round-trip time in the capture"), "\(found.output)")

    let better = try altered(log, in: field.folder, where: { $0.contains(#""error":"timeout""#) }) {
      $0.replacing("\"error\":\"timeout\"", with: "\"rtt_ms\":0.1")
    }
    let hidden = try await verify(better, files)
    #expect(hidden.status == 1)
    #expect(hidden.output.contains("1 ping answered in the log, not in the capture"), "\(hidden.output)")

    let shorter = try altered(log, in: field.folder, where: { $0.contains(#""error":"timeout""#) }) { _ in "" }
    let leftOut = try await verify(shorter, files)
    #expect(leftOut.status == 1)
    #expect(leftOut.output.contains("1 ping in the capture, not in the log"), "\(leftOut.output)")

    // Sequence numbers in the log do not change the fences.
    let bare = try String(contentsOfFile: log, encoding: .utf8).replacing(/,"sequence":\d+/, with: "")
    #expect(!bare.contains("sequence"))
    let fences = try await replayed(log)
    #expect(!fences.isEmpty)
    #expect(try await replayed(try field.folder.write(bare, to: "bare.jsonl")) == fences)
  }

  private func replayed(_ log: String) async throws -> String {
    let replay = try RunningProgram.product("coverage-probe", ["replay", log])
    #expect(try await replay.exitStatus() == 0)
    return replay.standardOutput
  }

  @Test("when two drives are captured under one path, then the files of both confirm either log")
  func twoDrives() async throws {
    let field = try await Field(gpsdPort: 1)
    let path = field.folder.file("drive")
    var logs: [String] = []
    for number in 1...2 {
      let drive = try await field.record(pings: 15, ["--no-submit", "--capture", path])
      #expect(drive.status == 0, "\(drive.errors)")
      #expect(drive.output.contains("capture: 1 file, \(path)-000\(number).pcap; "), "\(drive.output)")
      logs += try field.driveLogs().filter { !logs.contains($0) }
    }
    #expect(logs.count == 2)
    for log in logs {
      #expect(try pings(log).count > 10)
      let result = try await verify(log, ["\(path)-0002.pcap", "\(path)-0001.pcap"])
      #expect(result.status == 0, "\(result.output)")
    }
  }

  @Test("when the capture cannot be opened, then one line says so and no drive begins")
  func refused() async throws {
    let field = try await Field(gpsdPort: 1)
    let result = try await field.run("record", ["--capture", field.folder.file("none/drive")])
    #expect(result.status == 1)
    #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    #expect(result.errors.contains("none/drive-0001.pcap: No such file or directory; make the directory first"))
    #expect(try await field.sessions().isEmpty)
  }

  @Test(
    "when targets are distributed to threads, then the capture has the packets of all, and the last line counts them")
  func ping() async throws {
    let folder = try TemporaryFolder()
    let ping = try RunningProgram.product(
      "coverage-probe",
      ["ping", "127.0.0.1", "127.0.0.2", "127.0.0.3", "-c", "4", "-i", "0.5", "--json", "--threads", "2"]
        + ["--capture", folder.file("ping")])
    #expect(try await ping.exitStatus() == 0, "\(ping.standardError)")
    let lines = Field.Finished(status: 0, output: ping.standardOutput, errors: "").lines
    #expect(lines.count { $0["verdict"] as? String == "answered" } == 12)
    #expect(lines.count { $0["summary"] != nil } == 3)
    let capture = try #require(lines.last?["capture"] as? [String: Any])
    #expect(capture["packets"] as? Int == 24)
    #expect(capture["dropped_by_kernel"] as? Int == 0)
    #expect(capture["files"] as? [String] == [folder.file("ping-0001.pcap")])
    #expect(FileManager.default.fileExists(atPath: folder.file("ping-0001.pcap")))
  }
}
