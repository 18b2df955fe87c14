import Coverage
import Foundation
import Positioning
import Settings
import TestSupport
import Testing

@testable import coverage_probe

/// How `doctor` listens to gpsd, over real connections to the player.
struct ReceiverListeningSlowTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A gpsd that plays `rows` of positions at 20 times their speed.
  private func player(_ rows: [String]) async throws -> GPSPlayerTool {
    let track = try folder.write(rows.joined(separator: "\n") + "\n", to: "track.csv")
    return try await GPSPlayerTool(["--gpsd", "--speed", "20", track])
  }

  private func listen(port: UInt16, limit: Double = 15) async -> ReceiverExamination.Heard {
    await ReceiverExamination.listen(to: GPSDConfiguration(host: "127.0.0.1", port: Int(port)), accuracyLimit: limit)
  }

  private func rows(accuracy: Double) -> [String] {
    (0..<400).map { "\($0),48.2082,16.3738,10.0,0.0,200.0,\(accuracy)" }
  }

  @Test("when gpsd's port is closed, then listening ends at once with the reason")
  func closed() async {
    let begin = ProgressWatch()
    let heard = await listen(port: 9)
    #expect(!heard.isConnected && heard.trouble?.contains("cannot connect") == true)
    #expect(begin.passed < .seconds(8), "it does not wait for its full time")
    #expect(ReceiverExamination.findings(heard, ProbeConfiguration()).map(\.grade).first == .fault)
  }

  @Test(
    "when positions are less accurate than the limit, then it continues to listen, and the fault names the needed accuracy"
  )
  func inaccurate() async throws {
    let gps = try await player(rows(accuracy: 30))
    let heard = await listen(port: gps.port)
    #expect(heard.fixes > 3 && (heard.best ?? 0) > 15)
    let finding = try #require(ReceiverExamination.findings(heard, ProbeConfiguration()).first { $0.grade == .fault })
    #expect(finding.text.hasSuffix("fences need 15 m or better: no fence begins"), "\(finding.text)")
    #expect(finding.advice?.contains("location.accuracy-limit") == true)
  }

  @Test("when the limit is raised, then the same positions are enough")
  func raised() async throws {
    let gps = try await player(rows(accuracy: 30))
    let heard = await listen(port: gps.port, limit: 100)
    var configuration = ProbeConfiguration()
    configuration.location.accuracyLimit = 100
    #expect(heard.fixes >= 3)
    let faults = ReceiverExamination.findings(heard, configuration).filter { $0.grade == .fault }
    #expect(faults.isEmpty, "\(faults)")
  }

  @Test("when another program is at gpsd's port, then there is no position, and the finding is a fault")
  func otherProgram() async throws {
    let server = try await ControlServerTool()
    let port = try #require(URL(string: server.url)?.port)
    let heard = await listen(port: UInt16(port))
    #expect(heard.fixes == 0 && heard.release == nil)
    #expect(ReceiverExamination.findings(heard, ProbeConfiguration()).contains { $0.grade == .fault })
  }
}
