import Coverage
import Foundation
import Logging
import Submission
import TestSupport
import Testing

@testable import Service

/// The service's socket: each request makes one call, and the call's outcome decides the status (docs/service.md, The socket).
struct CommandSocketTests {
  /// Runs `body` beside a real socket with a scripted service behind it.
  private func withSocket(
    _ outcome: CommandOutcome = .done, at path: String? = nil, log: LogLines = LogLines(),
    preparing: (String) throws -> Void = { _ in }, _ body: (String, ScriptedService) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let path = path ?? folder.file("agent.sock")
    try preparing(path)
    let service = ScriptedService(outcome: outcome)
    let socket = ServiceSocket(path: path, service: service, logger: log.logger)
    let (readiness, ready) = AsyncStream<Void>.makeStream()
    let running = Task {
      defer { ready.finish() }
      try await socket.run { ready.yield() }
    }
    for await _ in readiness { break }
    let result: Result<Void, any Error>
    do { result = .success(try await body(path, service)) } catch { result = .failure(error) }
    running.cancel()
    let ended = await running.result
    try result.get()
    if case .failure(let error) = ended, !(error is CancellationError) { throw error }
    #expect(!FileManager.default.fileExists(atPath: path), "the socket is removed at the end")
  }

  @Test(
    "when a command comes, then the service gets it once, and its line is the answer",
    arguments: ServiceCommand.allCases)
  func command(command: ServiceCommand) async throws {
    try await withSocket { path, service in
      let answer = try await RawSocket.ask(path, "POST /\(command.rawValue) HTTP/1.1")
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.hasSuffix("\r\n\r\n\(command.rawValue) is done\n"))
      #expect(service.calls == [command.rawValue])
    }
  }

  @Test("when submit has a mode and force, then the pass has both; without them it is cold and unforced")
  func submit() async throws {
    try await withSocket { path, service in
      for query in ["", "?mode=warm", "?mode=quarantined&force=true", "?force=false&mode=cold", "?force=TRUE"] {
        let answer = try await RawSocket.ask(path, "POST /submit\(query) HTTP/1.1")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      }
      #expect(
        service.calls == [
          "submit cold commanded", "submit warm commanded", "submit cold, with quarantined sessions forced",
          "submit cold commanded", "submit cold commanded",
        ])
    }
  }

  @Test(
    "when a parameter is wrong, then the answer is 400 with the expected values, and the service gets no call",
    arguments: [
      ("submit?mode=", "mode: one of cold, warm, quarantined"),
      ("submit?mode=hot", "mode: one of cold, warm, quarantined"),
      ("submit?mode=drive(1)", "mode: one of cold, warm, quarantined"), ("forget", "session or speed-test: an id"),
      ("forget?session=", "session or speed-test: an id"), ("forget?session=1.0", "session or speed-test: an id"),
      ("forget?session=%00", "session or speed-test: an id"), ("forget?session=all", "session or speed-test: an id"),
      ("forget?session=9223372036854775808", "session or speed-test: an id"),
      ("forget?speed-test=one", "session or speed-test: an id"),
      ("forget?session=1&speed-test=1", "session or speed-test: an id"),
    ])
  func wrongParameter(request: String, expected: String) async throws {
    try await withSocket { path, service in
      let answer = try await RawSocket.ask(path, "POST /\(request) HTTP/1.1")
      #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
      #expect(answer.hasSuffix("\r\n\r\n\(expected)\n"))
      #expect(service.calls.isEmpty)
    }
  }

  @Test("when a session id is negative, 0 or the largest, then the service gets it unchanged")
  func strangeSession() async throws {
    try await withSocket { path, service in
      for id in ["-1", "0", "9223372036854775807"] {
        _ = try await RawSocket.ask(path, "POST /forget?session=\(id) HTTP/1.1")
      }
      #expect(service.calls == ["forget session -1", "forget session 0", "forget session 9223372036854775807"])
    }
  }

  @Test(
    "when a call ends, then its outcome decides the HTTP status",
    arguments: [
      (CommandOutcome.done, "200 OK"), (.unmeasured, "200 OK"), (.kept, "503 Service Unavailable"),
      (.failed, "500 Internal Server Error"),
    ])
  func outcome(outcome: CommandOutcome, status: String) async throws {
    try await withSocket(outcome) { path, _ in
      for request in ["submit", "forget?session=7"] {
        let answer = try await RawSocket.ask(path, "POST /\(request) HTTP/1.1")
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(request)")
      }
    }
  }

  @Test("when status is requested, then text/plain gets lines, and any other type a JSON object")
  func status() async throws {
    try await withSocket { path, _ in
      let head = "GET /status HTTP/1.1\r\nAccept: "
      let lines = try await RawSocket.ask(path, head + "text/plain")
      #expect(lines.contains("\r\n\r\nidle: scripted\nwaiting to be sent: "))
      for accept in ["application/json", "*/*", "text/html"] {
        let answer = try await RawSocket.ask(path, head + accept)
        #expect(answer.contains("\r\n\r\n{\"version\":\""), "\(accept)")
      }
      let metrics = try await RawSocket.ask(path, "GET /metrics HTTP/1.1")
      #expect(metrics.contains("\r\n\r\n# HELP coverage_probe_recording "))
    }
  }

  @Test(
    "when the method is wrong, then the answer is 405 and names the right one; an unknown path gets 404",
    arguments: [
      ("GET /stop", "405 Method Not Allowed", "POST"), ("PUT /submit", "405 Method Not Allowed", "POST"),
      ("DELETE /forget?session=1", "405 Method Not Allowed", "POST"),
      ("POST /metrics", "405 Method Not Allowed", "GET"),
      ("GET /", "404 Not Found", nil), ("POST /start/again", "404 Not Found", nil),
      ("GET /%2e%2e/status", "404 Not Found", nil),
    ])
  func wrongMethod(request: String, status: String, allowed: String?) async throws {
    try await withSocket { path, service in
      let answer = try await RawSocket.ask(path, "\(request) HTTP/1.1").lowercased()
      #expect(answer.hasPrefix("http/1.1 \(status.lowercased())\r\n"))
      #expect(answer.contains("\r\nallow: \(allowed?.lowercased() ?? "none")\r\n") == (allowed != nil))
      #expect(service.calls.isEmpty)
    }
  }

  @Test(
    "when a client sends no HTTP or closes in the middle, then no call is made, and the next request is answered",
    arguments: [
      [0xFF, 0x00, 0x0A, 0x0D, 0x0A], Array("POST /stop".utf8), Array("POST /stop HTTP/1.1\r\nHost: x".utf8),
      Array("POST /stop HTTP/9.9\r\n\r\n".utf8), [],
    ] as [[UInt8]])
  func noHTTP(bytes: [UInt8]) async throws {
    try await withSocket { path, service in
      _ = try await RawSocket.ask(path, bytes, closesFirst: true)
      #expect(service.calls.isEmpty)
      #expect(try await RawSocket.ask(path, "POST /start HTTP/1.1").hasSuffix("start is done\n"))
    }
  }

  @Test("when a killed process left its socket, then a new socket replaces it, with mode 0660")
  func left() async throws {
    try await withSocket(preparing: { try RawSocket.leave(at: $0) }) { path, _ in
      #expect(try await RawSocket.ask(path, "POST /start HTTP/1.1").hasSuffix("start is done\n"))
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o660)
    }
  }

  @Test("when the socket's group exists, then the socket belongs to it; otherwise only the user may connect")
  func group() async throws {
    let folder = try TemporaryFolder()
    let own = try #require(getgrgid(getegid()).map { String(cString: $0.pointee.gr_name) })
    for (name, mode) in [(own, mode_t(0o660)), ("no-such-group", 0o600)] {
      let (path, log) = (folder.file("\(mode).sock"), LogLines())
      let socket = ServiceSocket(
        path: path, group: SocketGroup(name: name), service: ScriptedService(outcome: .done), logger: log.logger)
      let (readiness, ready) = AsyncStream<Void>.makeStream()
      let running = Task {
        defer { ready.finish() }
        try await socket.run { ready.yield() }
      }
      for await _ in readiness { break }
      var status = stat()
      #expect(lstat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == mode)
      #expect(status.st_gid == getegid())
      #expect(try await RawSocket.ask(path, "GET /status HTTP/1.1").hasPrefix("HTTP/1.1 200 OK"))
      let line = "agent.socket-group: \(name) cannot have the socket: there is no such group"
      #expect(log.contains(line) == (mode == 0o600))
      running.cancel()
      _ = await running.result
    }
  }

  @Test("when the socket is removed, then it is made again, and the log says so")
  func removed() async throws {
    let log = LogLines()
    try await withSocket(log: log) { path, service in
      try FileManager.default.removeItem(atPath: path)
      try await log.wait(for: "accepting commands at \(path) again")
      #expect(log.contains("the socket for commands, \(path), is gone; creating it again"))
      #expect(try await RawSocket.ask(path, "POST /pause HTTP/1.1").hasSuffix("pause is done\n"))
      #expect(service.calls == ["pause"])
    }
  }

  @Test("when the path cannot be used, then the error says why and names the setting")
  func impossible() async throws {
    let folder = try TemporaryFolder()
    let long = folder.file(String(repeating: "x", count: 108))
    for (path, reason) in [
      (folder.file("gone/agent.sock"), "No such file or directory"),
      (long, "the path is longer than the 107 bytes that a socket's may have"),
      (folder.path, "there is something that is no socket"),
    ] {
      let socket = ServiceSocket(path: path, service: ScriptedService(outcome: .done), logger: .quiet)
      do {
        try await socket.run { Issue.record("a socket at \(path)") }
        Issue.record("no error for \(path)")
      } catch {
        #expect(error.description == "cannot take commands at \(path): \(reason); set agent.socket to another path")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(
    "when the disk has no inode for the socket, then the service starts without it, and retries until it has one",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func noInode() async throws {
    let folder = try TemporaryFolder()
    try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=1m,nr_inodes=2") == 0)
    defer { umount2(folder.path, CInt(MNT_DETACH)) }
    let (other, path, log) = (folder.file("other"), folder.file("agent.sock"), LogLines())
    try Data().write(to: URL(fileURLWithPath: other))
    let socket = ServiceSocket(path: path, service: ScriptedService(outcome: .done), logger: log.logger)
    let (readiness, ready) = AsyncStream<Void>.makeStream()
    let running = Task {
      defer { ready.finish() }
      try await socket.run { ready.yield() }
    }
    for await _ in readiness { break }
    let reason = "No space left on device; delete some files on its disk; trying again each second"
    #expect(log.messages == ["cannot take commands at \(path): \(reason)"])
    unlink(other)
    try await log.wait(for: "accepting commands at \(path)")
    #expect(try await RawSocket.ask(path, "POST /pause HTTP/1.1").hasSuffix("pause is done\n"))
    running.cancel()
    _ = await running.result
  }
}

/// Records the calls, and answers each with one line.
final class ScriptedService: ServiceCommands {
  private let outcome: CommandOutcome
  private let lines = LogLines()

  init(outcome: CommandOutcome) { self.outcome = outcome }

  var calls: [String] { lines.messages }

  func status() async -> ServiceStatus {
    var status = ServiceStatus(started: .sampleStart)
    status.reason = "scripted"
    return status
  }

  func perform(_ command: ServiceCommand) async -> String {
    lines.append(command.rawValue)
    return "\(command.rawValue) is done"
  }

  func submit(_ mode: PassMode, _ urgency: ServerGate.Urgency) async -> (line: String, outcome: CommandOutcome) {
    lines.append("submit \(mode) \(urgency)")
    return ("scripted", outcome)
  }

  func forget(_ target: ForgetTarget) async -> (line: String, outcome: CommandOutcome) {
    lines.append("forget \(target)")
    return ("scripted", outcome)
  }
}
