import Coverage
import Export
import Foundation
import Settings
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// `replay`: which parameters apply, which lines are reported, and the counts of the summary (docs/drive-log.md).
struct ReplayingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let parameters = #","parameters":{"minimum_radius":30,"accuracy_limit":40}"#

  private func header(_ more: String = "") -> String {
    #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"\#(more)}"#
  }

  private static func fix(_ at: Double, metres: Double, accuracy: Double = 5) -> String {
    #"{"at":\#(at),"fix":{"latitude":\#(48.2 + metres / 111_195),"longitude":16.37,"accuracy":\#(accuracy)}}"#
  }

  /// A straight road of 200 m, with a fix and a ping at each metre and second.
  private static let road = (0...200).flatMap { second in
    [fix(Double(second), metres: Double(second)), #"{"at":\#(second).5,"ping":{"rtt_ms":20}}"#]
  }

  private func replay(
    _ lines: [String], configuration: String? = nil, minimumRadius: Double? = nil, accuracyLimit: Double? = nil
  ) async throws -> Replaying {
    let log = try folder.write(lines.joined(separator: "\n") + "\n", to: "drive.jsonl")
    let file = try configuration.map { try folder.write($0, to: "config.yaml") }
    return try await Replaying(
      path: log, configuration: file, minimumRadius: minimumRadius, accuracyLimit: accuracyLimit)
  }

  private func output(_ replaying: Replaying) throws -> [[String: Any]] {
    var bytes: [UInt8] = []
    try replaying.run(format: .jsonl) { bytes += $0 }
    return try bytes.split(separator: UInt8(ascii: "\n")).map {
      try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
    }
  }

  private func summary(_ replaying: Replaying) throws -> [String: Any] {
    try #require(try output(replaying).last?["summary"] as? [String: Any])
  }

  private func radii(_ replaying: Replaying) throws -> Set<Double> {
    Set(try output(replaying).compactMap { $0["radius_m"] as? Double })
  }

  @Test("when parameters are set in several places, then the command overrides the file, and the file the log")
  func precedence() async throws {
    let lines = [header(Self.parameters)] + Self.road
    #expect(try radii(await replay([header()] + Self.road)) == [20], "10 m and twice the accuracy")
    #expect(try radii(await replay(lines)) == [30])
    #expect(try radii(await replay(lines, configuration: "location: { minimum-radius: 50 }")) == [50])
    #expect(
      try radii(await replay(lines, configuration: "location: { minimum-radius: 50 }", minimumRadius: 70)) == [70])
    #expect(try radii(await replay(lines, accuracyLimit: 4)).isEmpty, "no fix is that accurate")
  }

  @Test("when the configuration is wrong, then the replay fails, and does not use the log's parameters")
  func wrongConfiguration() async throws {
    await #expect(throws: ConfigurationError.self) {
      try await replay([header()], configuration: "location: { minimum-radius: -1 }")
    }
  }

  @Test("when fences are written, then the summary counts them and their pings, and says how the drive ended")
  func summaryCounts() async throws {
    let stopped = try summary(await replay([header()] + Self.road + [#"{"at":205,"stop":{}}"#]))
    #expect(stopped["stop_reason"] as? String == "user")
    #expect(stopped["stopped"] as? Double == 205)
    #expect(stopped["pings"] as? Int == 201)
    #expect(stopped["pings_ok"] as? Int == 201)
    let replaying = try await replay([header()] + Self.road)
    let fences = try output(replaying).dropLast()
    let summary = try summary(replaying)
    #expect(summary["stop_reason"] as? String == "end-of-log")
    #expect(summary["fences"] as? Int == fences.count)
    #expect(summary["submittable"] as? Int == fences.count)
    #expect(
      fences.compactMap { $0["pings"] as? Int }.reduce(0, +) + (summary["pings_unassigned"] as? Int ?? 0) == 201,
      "each ping is in one fence or in none")
  }

  @Test("when a drive was on Wi-Fi, then the warning has its start and end, and no fence is submittable")
  func wifi() async throws {
    let lines = [header(), #"{"at":0,"path":"wifi"}"#] + Self.road + [#"{"at":201,"path":"cellular"}"#]
    let replaying = try await replay(lines)
    let summary = try summary(replaying)
    #expect(summary["submittable"] as? Int == 0)
    let warnings = try #require(summary["warnings"] as? [[String: Any]])
    let wifi = try #require(warnings.first { $0["kind"] as? String == "wifi" })
    #expect(wifi["from"] as? Double == 0)
    #expect(wifi["to"] as? Double == 201)
    #expect(try output(replaying).dropLast().allSatisfy { $0["submittable"] as? Bool == false })
  }

  @Test("when lines cannot be read, then ten are named and the others counted; the fences are the same")
  func garbage() async throws {
    let clean = try output(await replay([header()] + Self.road)).count
    let bad = ["{", "null", #"{"at":1e999,"ping":{"rtt_ms":1}}"#, #"{"at":"1"}"#, "[]", "\u{FFFD}", #"{"ping":{}}"#]
    var lines = [header()] + Self.road
    for index in 0..<14 { lines.insert(bad[index % bad.count], at: 1 + index * 3) }
    let replaying = try await replay(lines)
    #expect(replaying.complaints.count == 11)
    #expect(replaying.complaints.first?.hasPrefix("line 2 skipped: ") == true)
    #expect(replaying.complaints.last == "4 more lines skipped")
    #expect(try output(replaying).count == clean)
  }

  @Test("when a power cut truncated the last line, then one complaint says so")
  func torn() async throws {
    let log = try folder.write(([header()] + Self.road + [#"{"at":201,"fi"#]).joined(separator: "\n"), to: "torn.jsonl")
    let replaying = try await Replaying(path: log, configuration: nil)
    #expect(replaying.complaints.count == 1)
    #expect(replaying.complaints.first?.contains("cut off") == true, "\(replaying.complaints)")
  }

  @Test(
    "when the file is no drive log, then one line says so",
    arguments: ["", "\n", "{}", "null", #"{"drive":2}"#, "\u{0}\u{1}"])
  func noLog(text: String) async throws {
    let path = try folder.write(text, to: "none.jsonl")
    let error = await #expect(throws: CommandFailure.self) { try await Replaying(path: path, configuration: nil) }
    let line = try #require(error).description
    #expect(line.hasPrefix("\(path): ") && !line.contains("\n"), "\(line)")
  }

  @Test("when the file is missing, then the error names it")
  func missing() async throws {
    let error = await #expect(throws: InputFileError.self) {
      try await Replaying(path: folder.file("gone.jsonl"), configuration: nil)
    }
    #expect(error.map { "\($0)".contains(folder.file("gone.jsonl")) } == true)
  }

  @Test("when the reader of the output is gone, then the replay ends with its error")
  func writeFails() async throws {
    let replaying = try await replay([header()] + Self.road)
    let error = OutputError(path: "standard output", code: EPIPE)
    #expect(throws: error) { try replaying.run(format: .geojson) { _ in throw error } }
  }

  @Test("when the log names its link, then each fence has it")
  func link() async throws {
    let fences = try output(await replay([header(#","link":"A""#)] + Self.road)).dropLast()
    #expect(!fences.isEmpty && fences.allSatisfy { $0["link"] as? String == "A" })
  }
}
