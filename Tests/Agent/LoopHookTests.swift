import Foundation
import TestSupport
import Testing

@testable import Agent
@testable import Looping

/// The operator's program that runs when a test is held back (docs/loop.md).
struct LoopHookTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Starts a program that is written now. The kernel refuses to start it (ETXTBSY) as long as a process that another test began meanwhile
  /// has its file open for writing.
  private func call(_ script: String, _ notice: LoopNotice) async throws -> LogLines {
    let path = try folder.write("#!/bin/sh\n\(script)\n", to: "hook")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return try await eventually("the program starts") {
      let attempt = LogLines()
      LoopHook(path: path, logger: attempt.logger).call(notice)
      return attempt.contains("cannot be started") ? nil : attempt
    }
  }

  private func notice(_ hold: LoopHold) -> LoopNotice {
    LoopNotice(number: 3, hold: hold, used: 1000, limit: 900, isDateKnown: true)
  }

  @Test(
    "when a test is held back, then the program gets the reason, the line and the number", arguments: LoopHold.allCases)
  func call(hold: LoopHold) async throws {
    let answer = folder.file("answer")
    let log = try await call(
      "printf '%s|%s|%s' \"$1\" \"$COVERAGE_PROBE_TEST\" \"$COVERAGE_PROBE_NOTICE\" > \(answer).new; mv \(answer).new \(answer)",
      notice(hold))
    let text = try await eventually("the program's file") { FileManager.default.contents(atPath: answer) }
    #expect(String(decoding: text, as: UTF8.self) == "\(hold.rawValue)|3|\(notice(hold))")
    #expect(log.messages.isEmpty)
  }

  @Test("when the program fails, then the log has its status")
  func failing() async throws {
    let log = try await call("exit 7", notice(.noFix))
    try await log.wait(for: "ended with status 7")
    #expect(log.all == ["warning: loop.hook \(folder.file("hook")) ended with status 7"])
  }

  @Test("when there is no such program, then the log says so, and the loop goes on")
  func missing() {
    let log = LogLines()
    LoopHook(path: folder.file("nothing"), logger: log.logger).call(notice(.dayLimit))
    #expect(log.messages.count == 1)
    #expect(log.messages.first?.hasPrefix("loop.hook \(folder.file("nothing")) cannot be started: ") == true)
  }
}
