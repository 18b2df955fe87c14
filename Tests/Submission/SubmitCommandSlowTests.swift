import Coverage
import Foundation
import Store
import TestSupport
import Testing

/// The output and the exit status of the `submit` program.
@Suite(.serialized)
struct SubmitCommandSlowTests {
  private struct Post {
    let folder: TemporaryFolder
    let tool: ControlServerTool
    let configuration: String

    init() async throws {
      folder = try TemporaryFolder()
      tool = try await ControlServerTool()
      configuration = try folder.write(
        "{ state-directory: \(folder.file("state")), control-server: { url: \"\(tool.url)\" } }", to: "config.yaml")
    }

    /// A drive of two fences that ended two hours ago.
    func record() throws {
      let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
      let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
      var recorder = try DriveRecorder(store, started: now.later(by: .seconds(-7200)), log: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(50))],
        fences: (0..<2).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(50))
    }

    func submit(_ options: String...) async throws -> (output: String, status: Int32) {
      let program = try RunningProgram.product("coverage-probe", ["submit", "--config", configuration] + options)
      let status = try await program.exitStatus()
      return (program.standardOutput, status)
    }
  }

  @Test(
    "when the server sent a Retry-After, then submit prints its end and the --force hint, and exits with 75; --force sends",
    arguments: [429, 503])
  func retryAfter(status: Int) async throws {
    let post = try await Post()
    try post.record()
    try await post.tool.setFault("\(status)-retry-after:600", on: "coverageResult", count: 1)
    let first = try await post.submit()
    let second = try await post.submit()
    for (output, status) in [first, second] {
      #expect(status == 75)
      #expect(output.contains("1 session kept for later"), "\(output)")
      let text = "the control server asked for a pause (Retry-After): no request leaves before 20"
      #expect(output.contains(text), "\(output)")
      #expect(output.contains("(in 00:10:0") || output.contains("(in 00:09:"), "\(output)")
      #expect(output.hasSuffix("coverage-probe submit --force sends now\n"), "\(output)")
    }
    #expect(try await post.tool.requests(to: "coverageResult").count == 1)
    let forced = try await post.submit("--force")
    #expect(forced.output == "submitted 2 fences in 1 session\n" && forced.status == 0)
    try await post.tool.program.stop()
  }

  @Test(
    "when the server may have quarantined fences, then submit names --force and its risk, and sends them with it only")
  func mayHaveArrived() async throws {
    let post = try await Post()
    try post.record()
    try await post.tool.setFault("drop-answer", on: "coverageResult", count: 1)
    #expect(try await post.submit().status == 75)
    // Another server at its address knows neither the device nor the fences.
    let port = try #require(URL(string: post.tool.url)?.port)
    try await post.tool.program.stop()
    let forgetful = try await ControlServerTool(["--port", "\(port)"])
    let held = try await [post.submit(), post.submit("--quarantined")]
    for (output, status) in held {
      #expect(status == 75)
      let advice =
        "(coverage-probe submit --quarantined --force sends again; what the server has already, it then has twice)"
      #expect(output.contains("1 session quarantined, because the server may have the fences \(advice)"), "\(output)")
      #expect(!output.contains("refused and quarantined"), "\(output)")
    }
    #expect(try await forgetful.fences().isEmpty)
    let forced = try await post.submit("--quarantined", "--force")
    #expect(forced.output == "submitted 2 fences in 1 session\n" && forced.status == 0)
    try await forgetful.program.stop()
  }

  @Test("when no fences wait, then submit ignores a pending Retry-After")
  func nothingWaits() async throws {
    let post = try await Post()
    try post.record()
    try await post.tool.setFault("503-retry-after:600", on: "coverageResult", count: 1)
    _ = try await post.submit()
    _ = try await post.submit("--force")
    #expect(try await post.submit() == ("nothing to submit\n", 0))
    try await post.tool.program.stop()
  }
}
