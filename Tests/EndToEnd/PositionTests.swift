import Foundation
import TestSupport
import Testing

/// Receivers with impossible positions.
struct PositionTests {
  /// Two positions a second, straight north at 10 m/s; the eighth is 11 km off, and one is at 0,0.
  private static let track = """
    seconds,latitude,longitude,speed_mps,course_deg,altitude_m,accuracy_m
    \((0..<20).map { index in
      let latitude = index == 13 ? 0 : 48.2 + Double(index) * 5 / 111_200 + (index == 7 ? 0.1 : 0)
      return "\(Double(index) / 2),\(latitude),\(index == 13 ? 0 : 16.37),10,0,171,4.5"
    }.joined(separator: "\n"))

    """

  @Test(
    "when a position is out of reach, then it is refused unless jumps are allowed, and a last line counts the refusals",
    arguments: [("", ["1 at 0,0", "1 out of reach"]), ("location: { maximum-speed: null }", ["1 at 0,0"])])
  func jump(settings: String, refused: [String]) async throws {
    // On a busy host, positions arrive late and are refused for that: repeat such a drive.
    var drive = try await driven(settings)
    for _ in 0..<4 where drive.reasons.contains(where: { $0.hasSuffix(" old") || $0.hasSuffix(" too late") }) {
      drive = try await driven(settings)
    }
    #expect(drive.reasons == refused, "\(drive.output)")

    let lines = drive.log.split(separator: "\n")
    let fixes = lines.filter { $0.contains(#""fix":{"latitude""#) }
    #expect(fixes.count { $0.contains(#""latitude":48.3"#) } == (settings.isEmpty ? 0 : 1))
    #expect(
      fixes.allSatisfy { $0.contains(#""accuracy_source":"eph","accuracy_rule":"eph-unknown","#) }, "\(fixes)")
  }

  private struct Drive {
    let reasons: [String]
    let log: String
    let output: String
  }

  private func driven(_ settings: String) async throws -> Drive {
    let folder = try TemporaryFolder()
    let track = try folder.write(Self.track, to: "track.csv")
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "2", track])
    let field = try await Field(gpsdPort: gps.port, keeping: [gps.program, folder], settings: settings)
    let record = try field.start("record")
    _ = try await eventually("the track is over") { gps.program.standardOutput.contains("played") ? () : nil }
    record.signal(SIGTERM)
    #expect(try await record.exitStatus() == 0, "\(record.standardError)")
    let line = record.standardError.split(separator: "\n").last { $0.contains("positions refused: ") }
    return Drive(
      reasons: line?.split(separator: "positions refused: ").last?.components(separatedBy: ", ") ?? [],
      log: try String(contentsOfFile: try field.driveLog(), encoding: .utf8), output: record.standardError)
  }
}
