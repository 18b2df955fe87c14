import Foundation
import TestSupport
import Testing

/// The live panel on a real pseudo-terminal, and plain lines where there is none.
struct TerminalTests {
  private func field(_ settings: String = "") async throws -> Field {
    let track = Surroundings.root.appending(path: "tools/gps-player/demo-track.csv").path
    let gps = try await GPSPlayerTool(["--gpsd", track])
    return try await Field(gpsdPort: gps.port, keeping: [gps.program], settings: settings)
  }

  private func onTerminal(
    _ field: Field, _ arguments: [String], columns: Int = 100, environment: [String: String] = [:]
  ) throws -> TerminalProgram {
    try TerminalProgram(
      "coverage-probe", arguments + ["--config", field.configuration], columns: columns, environment: environment)
  }

  private func isPanel(_ lines: [String]) -> Bool {
    lines.contains { $0.contains(" ms  ") && $0.contains(" lost  4G/LTE  ") && $0.contains("▁") }
      && lines.contains { $0.hasPrefix("   this fence: ") }
  }

  @Test("when a drive is recorded on a terminal, then a panel follows it below the log, and is gone at the end")
  func record() async throws {
    let field = try await field()
    let program = try onTerminal(field, ["record"])
    _ = try await eventually("the panel") { isPanel(program.screen.lines) ? () : nil }
    _ = try await eventually("the drive goes on") {
      let counts = program.screen.lines.compactMap { $0.firstMatch(of: #/\s(\d+) fences/#) }.compactMap { Int($0.1) }
      return counts.contains { $0 >= 4 } ? () : nil
    }
    // Each line of the log is complete, and the panel is shown once.
    let screen = program.screen
    let all = screen.history + screen.lines
    #expect(all.count { $0.hasPrefix("   this fence: ") } == 1, "\(all)")
    #expect(all.contains { $0.hasSuffix("Z connecting to gpsd") })
    #expect(!all.joined().contains("ESC["))

    program.resize(columns: 40, rows: 12)
    _ = try await eventually("the panel of the other width") {
      program.screen.lines.first?.contains(" % lost  4G/LTE") == true ? () : nil
    }
    #expect(program.screen.lines.allSatisfy { $0.count < 40 })

    program.signal(SIGINT)
    #expect(try await program.exitStatus() == 0)
    _ = try await eventually("the panel is gone, and the last line is there") {
      let end = program.screen.history + program.screen.lines
      return !end.contains { $0.hasPrefix("   this fence: ") } && end.contains { $0.contains("submitted ") } ? () : nil
    }
  }

  @Test("when a service is watched, then the panel follows it, reports its end, and finds it again")
  func watch() async throws {
    let field = try await field("agent: { record: always }")
    let first = try field.start("agent")
    _ = try await eventually("the service answers") {
      try await field.run("status").status == 0 ? () : nil
    }
    let program = try onTerminal(field, ["status", "--watch"])
    _ = try await eventually("the panel") {
      let lines = program.screen.lines
      return isPanel(lines) && lines.first?.hasPrefix("recording: ") == true ? () : nil
    }
    #expect(program.screen.lines.last?.hasPrefix("waiting to be sent: ") == true)
    try await first.stop()
    _ = try await eventually("the panel says that it is gone") {
      program.screen.lines.first == "no answer" && program.screen.lines.last?.hasPrefix("! ") == true ? () : nil
    }
    let second = try field.start("agent")
    _ = try await eventually("the panel is back") { isPanel(program.screen.lines) ? () : nil }
    program.signal(SIGINT)
    #expect(try await program.exitStatus() == 0)
    _ = try await eventually("the panel is gone") { program.screen.lines.isEmpty ? () : nil }
    try await second.stop()
  }

  @Test("when the output is no terminal, or a dumb one, then the state is plain lines; with --json, an object a line")
  func plain() async throws {
    let field = try await field("agent: { record: always }")
    let service = try field.start("agent")
    _ = try await eventually("the service answers") { try await field.run("status").status == 0 ? () : nil }
    let watch = try field.start("status", ["--watch"])
    let json = try field.start("status", ["--watch", "--json"])
    _ = try await eventually("three lines each") {
      [watch, json].allSatisfy { $0.standardOutput.split(separator: "\n").count >= 3 } ? () : nil
    }
    for program in [watch, json] { try await program.stop() }
    #expect(!watch.standardOutput.contains("\u{1B}"))
    #expect(
      watch.standardOutput.split(separator: "\n").allSatisfy { $0.hasPrefix("recording: ") || $0.hasPrefix("idle: ") })
    for line in json.standardOutput.split(separator: "\n") {
      #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
    }
    let dumb = try TerminalProgram(
      "coverage-probe", ["status", "--watch", "--config", field.configuration], terminal: "dumb")
    _ = try await eventually("lines on a dumb terminal") {
      dumb.screen.lines.count { $0.hasPrefix("recording: ") } >= 2 ? () : nil
    }
    dumb.signal(SIGINT)
    #expect(try await dumb.exitStatus() == 0)
    try await service.stop()
  }

  @Test("when no service answers at first, then watching ends with one line and status 1")
  func noService() async throws {
    let field = try await field()
    let watch = try await field.run("status", ["--watch"])
    #expect(watch.status == 1 && watch.errors.split(separator: "\n").count == 1, "\(watch.errors)")
  }
}
