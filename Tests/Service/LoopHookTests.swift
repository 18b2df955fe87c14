import Foundation
import TestSupport
import Testing

@testable import Service
@testable import SpeedTest

/// The operator's program that runs when a test is held back (docs/loop.md).
struct LoopHookTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes a program and runs it. The kernel refuses to start it (ETXTBSY) while a process that another test started meanwhile has its
  /// file open for writing.
  /// - Parameter besides: Runs beside the program, and ends when its log says that it cannot be started.
  private func run(
    _ script: String, _ notice: LoopNotice, besides: @escaping @Sendable (LogLines) async throws -> Void = { _ in }
  ) async throws -> LogLines {
    let path = try folder.write("#!/bin/sh\n\(script)\n", to: "hook")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return try await eventually("the program starts") {
      let attempt = LogLines()
      async let other: Void = besides(attempt)
      await LoopHook(path: path, logger: attempt.logger).run(notice)
      try await other
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
    let log = try await run(
      "printf '%s|%s|%s' \"$1\" \"$COVERAGE_PROBE_TEST\" \"$COVERAGE_PROBE_NOTICE\" > \(answer)", notice(hold))
    let text = try #require(FileManager.default.contents(atPath: answer))
    #expect(String(decoding: text, as: UTF8.self) == "\(hold.rawValue)|3|\(notice(hold))")
    #expect(log.messages.isEmpty)
  }

  @Test("when the program fails, then the log has its status")
  func failing() async throws {
    #expect(
      try await run("exit 7", notice(.noFix)).all
        == ["warning: loop.hook \(folder.file("hook")) ended with status 7"])
    #expect(
      try await run("kill -9 $$", notice(.noFix)).all
        == ["warning: loop.hook \(folder.file("hook")) was ended by signal 9"])
  }

  @Test("when the program does not end, then the loop does not wait for it")
  func slow() async throws {
    let (began, go) = (folder.file("began"), folder.file("go"))
    // The program ends after at most half a minute, or when the folder is removed.
    let path = try folder.write(
      "#!/bin/sh\ntouch \(began)\ni=0\nuntil [ -e \(go) ] || [ ! -e \(began) ] || [ $((i+=1)) -gt 3000 ]; do sleep 0.01; done\nexit 5\n",
      to: "hook")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let log = LogLines()
    let hook = LoopHook(path: path, logger: log.logger)
    hook.call(notice(.noFix))
    var refusals = 0
    _ = try await eventually("the program runs") {
      // The kernel can refuse the start, as above.
      let count = log.messages.count { $0.contains("cannot be started") }
      if count > refusals { hook.call(notice(.noFix)) }
      refusals = count
      return FileManager.default.fileExists(atPath: began) ? true : nil
    }
    #expect(!log.contains("ended with status"))
    _ = try folder.write("", to: "go")
    try await log.wait(for: "ended with status 5")
  }

  @Test("when the program runs for too long, then it is ended, and the log says so")
  func endless() async throws {
    let path = try folder.write("#!/bin/sh\nsleep 600 & wait\n", to: "hook")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let log = LogLines()
    var hook = LoopHook(path: path, logger: log.logger)
    hook.limit = .milliseconds(50)
    hook.call(notice(.noFix))
    let call = hook
    var refusals = 0
    _ = try await eventually("the program is ended") {
      // The kernel can refuse the start, as above.
      let count = log.messages.count { $0.contains("cannot be started") }
      if count > refusals { call.call(notice(.noFix)) }
      refusals = count
      return log.contains("loop.hook \(path) ran for 0.05 s and was ended") ? true : nil
    }
  }

  @Test("when the program prints without end, then the log has its first lines and the number of the others")
  func flood() async throws {
    let go = folder.file("go")
    // Of lines that are read at once, the last ones count: the flood comes when the first two are in the log.
    let script = "echo out; echo err >&2; until [ -e \(go) ]; do sleep 0.01; done; yes | head -n 20000"
    let log = try await run(script, notice(.noFix)) { log in
      _ = try await eventually("the first lines are read") {
        log.contains("loop.hook: err") || log.contains("cannot be started") ? true : nil
      }
      _ = FileManager.default.createFile(atPath: go, contents: nil)
    }
    #expect(log.all.first == "info: loop.hook: out")
    #expect(log.messages.count <= LoopHook.lines + 2, "\(log.messages)")
    #expect(log.all.last?.hasSuffix(" more lines") == true)
  }

  @Test("when the program prints as many lines as the log has, then none is missing, and no notice says so")
  func fullLog() async throws {
    let log = try await run("seq \(LoopHook.lines)", notice(.noFix))
    #expect(log.all == (1...LoopHook.lines).map { "info: loop.hook: \($0)" })
  }

  @Test("when there is no such program, then the log says so, and the loop goes on")
  func missing() async {
    let log = LogLines()
    await LoopHook(path: folder.file("nothing"), logger: log.logger).run(notice(.dayLimit))
    #expect(log.messages.count == 1)
    #expect(log.messages.first?.hasPrefix("loop.hook \(folder.file("nothing")) cannot be started: ") == true)
  }
}
