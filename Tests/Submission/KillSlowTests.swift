import Coverage
import Foundation
import Store
import TestSupport
import Testing

/// The `submit` program, killed at random moments.
struct KillSlowTests {
  private static let sessions = 8
  private static let fences = 3

  @Test(
    "when submit is killed at random moments, then a later submit sends the rest, and the server holds every fence once"
  )
  func kill() async throws {
    let folder = try TemporaryFolder()
    let state = folder.file("state")
    let tool = try await ControlServerTool()
    let configuration = try folder.write(
      "{ state-directory: \(state), control-server: { url: \"\(tool.url)\", request-timeout: 5s } }", to: "config.yaml")
    try record(in: state)
    try await tool.setFault("slow:0.05", on: "*")

    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<5 {
      let submit = try RunningProgram.product("coverage-probe", ["submit", "--config", configuration])
      // Anything from before the first byte to after the last.
      let begun = try await tool.requests(to: "").count
      let more = Int.random(in: 0...4, using: &generator)
      _ = try? await eventually(within: .seconds(2), "some requests") {
        let requests = try await tool.requests(to: "").count
        return !submit.isRunning || requests >= begun + more ? () : nil
      }
      let moment = ContinuousClock.now + .milliseconds(Int.random(in: 0...60, using: &generator))
      _ = try await eventually("a moment after the requests, or the end of submit") {
        !submit.isRunning || ContinuousClock.now >= moment ? () : nil
      }
      submit.signal(SIGKILL)
      _ = try await submit.exitStatus()
    }
    try await tool.clearFaults()
    let last = try RunningProgram.product("coverage-probe", ["submit", "--config", configuration])
    #expect(try await last.exitStatus() == 0, "\(last.standardError)")
    let counts = try await tool.fences().reduce(into: [:]) { $0[$1.integer("timestamp_microseconds"), default: 0] += 1 }
    #expect(counts.count == Self.sessions * Self.fences)
    #expect(counts.values.allSatisfy { $0 == 1 })
    try await tool.program.stop()
  }

  private func record(in state: String) throws {
    let store = try DriveStore(directory: StateDirectory(path: state), purpose: "a test")
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    for drive in 0..<Self.sessions {
      var recorder = try DriveRecorder(store, started: now.later(by: .seconds(60 * drive - 7200)), log: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(50))],
        fences: (0..<Self.fences).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(50))
    }
  }
}
