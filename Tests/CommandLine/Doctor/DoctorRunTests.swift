import Coverage
import Foundation
import Positioning
import Settings
import Submission
import TestSupport
import Testing

@testable import coverage_probe

/// All examinations in their order, on a host with no configuration, and the receiver's with real connections.
struct DoctorRunTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func doctor(_ environment: [String: String], gpsd port: Int) -> Doctor {
    let reading = ConfigurationReading(
      file: nil,
      environment: environment.merging([
        "COVERAGE_PROBE_STATE_DIRECTORY": folder.file("state"), "COVERAGE_PROBE_GPSD_PORT": "\(port)",
      ]) { first, _ in first })
    return Doctor(
      reading: reading, device: .sample,
      wall: { .sampleStart },
      clock: SenderClock(wall: { .sampleStart }, boot: { .seconds(1) }, bootID: "boot"))
  }

  private func findings(_ doctor: Doctor) async -> [Finding] {
    var findings: [Finding] = []
    await doctor.run { findings.append($0) }
    return findings
  }

  @Test("when nothing is configured, then each part has its finding in order, and only the missing parts are faults")
  func bare() async throws {
    let found = await findings(doctor([:], gpsd: 9))
    let subjects = found.map(\.subject)
    let order = Finding.Subject.allCases
    #expect(subjects == subjects.sorted { order.firstIndex(of: $0) ?? 0 < order.firstIndex(of: $1) ?? 0 })
    // Whether this host's route leaves by a link that a drive would measure is another question.
    let faults = Set(found.filter { $0.grade == .fault }.map(\.subject))
    #expect(faults.subtracting([.link]) == [.configuration, .receiver])
    #expect(found.contains { $0.text.contains("control-server.url is not set") })
    #expect(found.contains { $0.text.hasPrefix("no gpsd at 127.0.0.1:9: ") })
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")), "the examination creates nothing")
  }

  @Test("when the control server's port is closed, then its fault has the reason, and no ping is tried")
  func closedServer() async throws {
    let found = await findings(doctor(["COVERAGE_PROBE_CONTROL_SERVER_URL": "http://127.0.0.1:9/x"], gpsd: 9))
    let server = found.filter { $0.subject == .server }
    #expect(server.map(\.grade) == [.fault] && server[0].text.contains("Connection refused"), "\(server)")
    #expect(!found.contains { $0.subject == .pings })
  }

  @Test("when a CA file cannot be read, then the server has a fault, and no request is sent")
  func badAuthority() async throws {
    let found = await findings(
      doctor(
        [
          "COVERAGE_PROBE_CONTROL_SERVER_URL": "https://127.0.0.1:9/x",
          "COVERAGE_PROBE_CONTROL_SERVER_CA_FILE": folder.file("missing.pem"),
        ], gpsd: 9))
    let server = found.filter { $0.subject == .server }
    #expect(server.map(\.grade) == [.fault] && server[0].text.contains("missing.pem"), "\(server)")
  }

  @Test("when a receiver is accurate, then listening ends after a few positions")
  func accurate() async throws {
    let track = try folder.write(
      (0..<60).map { "\($0),48.2082,16.3738,10.0,0.0,200.0,4.0\n" }.joined(), to: "track.csv")
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "20", track])
    let heard = await ReceiverExamination.listen(
      to: GPSDConfiguration(host: "127.0.0.1", port: Int(gps.port)), accuracyLimit: 15)
    #expect(heard.isConnected && heard.fixes >= 3 && (heard.best ?? 99) <= 15)
    #expect(heard.holders.isEmpty, "ports are not examined when there are positions")
    let good = ReceiverExamination.findings(heard, ProbeConfiguration()).filter { $0.grade == .good }
    #expect(good.count == 2, "\(good)")
  }

  @Test("when a receiver has no position, then the processes that hold its port are notes after the fault")
  func held() {
    var heard = ReceiverExamination.Heard()
    (heard.isConnected, heard.devices) = (true, ["/dev/ttyACM0"])
    heard.holders = ["/dev/ttyACM0 is open in gpsd (1) and cat (2)"]
    let found = ReceiverExamination.findings(heard, ProbeConfiguration())
    #expect(found.map(\.grade) == [.good, .fault, .note])
    #expect(found.last?.text == "/dev/ttyACM0 is open in gpsd (1) and cat (2)")
  }

  @Test("when gpsd lacks the configured receiver, then the fault names it and gpsd's receivers")
  func otherDevice() {
    var configuration = ProbeConfiguration()
    configuration.gpsd.device = "/dev/gps7"
    var heard = ReceiverExamination.Heard()
    (heard.isConnected, heard.devices) = (true, ["/dev/ttyACM0", "/dev/ttyUSB1"])
    let found = ReceiverExamination.findings(heard, configuration)
    #expect(found.last?.text == "gpsd has /dev/ttyACM0, /dev/ttyUSB1, but gpsd.device is /dev/gps7")
    heard.devices = ["/dev/gps7"]
    #expect(ReceiverExamination.findings(heard, configuration).last?.text.hasPrefix("/dev/gps7: no usable") == true)
  }
}
