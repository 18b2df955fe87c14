import Foundation

/// A program that a test runs, with its output.
///
/// Started by posix_spawn and not by Foundation's `Process`, which detects an end by a socket that programs started at the same
/// moment inherit, so that it can miss an end, and which passes on the blocked signals of the calling thread.
public final class RunningProgram: @unchecked Sendable {
  public let pid: Int32
  private let name: String
  private let folder: TemporaryFolder
  private let lock = NSLock()
  private var status: Int32?

  public static func product(
    _ name: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(Surroundings.product(name), arguments, environment: environment)
  }

  public init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
    folder = try TemporaryFolder()
    name = program.lastPathComponent
    let surroundings = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    pid = try Self.spawn(
      program.path, arguments, surroundings.map { "\($0.key)=\($0.value)" }, output: folder.file("out"),
      errors: folder.file("err"))
  }

  private static func spawn(
    _ program: String, _ arguments: [String], _ environment: [String], output: String, errors: String
  ) throws -> Int32 {
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    let writing = O_WRONLY | O_CREAT | O_APPEND
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, writing, 0o600)
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors, writing, 0o600)
    try files.closeOthers()

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    attributes.clearSignals()
    posix_spawnattr_setflags(&attributes, posix_spawnattr_t.signalFlags)

    var pid: Int32 = 0
    let code = withCStrings([program] + arguments) { arguments in
      withCStrings(environment) { environment in
        posix_spawn(&pid, program, &files, &attributes, arguments, environment)
      }
    }
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
    return pid
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
  }

  public var isRunning: Bool { lock.withLock { collectStatus() == nil } }
  public var standardOutput: String { text("out") }
  public var standardError: String { text("err") }

  private func text(_ file: String) -> String {
    FileManager.default.contents(atPath: folder.file(file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Call with the lock held. Never signal a collected child: another process can have its number.
  private func collectStatus() -> Int32? {
    var raw: Int32 = 0
    if status == nil, waitpid(pid, &raw, WNOHANG) == pid {
      status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
    }
    return status
  }

  public func signal(_ number: Int32) {
    lock.withLock { if collectStatus() == nil { kill(pid, number) } }
  }

  /// Waits for the exit status; a signal's number is negative.
  public func exitStatus(within limit: Duration = .seconds(60)) async throws -> Int32 {
    try await eventually(within: limit, "\(name) ends") { lock.withLock { collectStatus() } }
  }

  /// Sends SIGTERM, and waits for the end.
  public func stop() async throws {
    signal(SIGTERM)
    _ = try await exitStatus()
  }

  /// The rest of the first line of the output that begins with `prefix`.
  public func line(after prefix: String) async throws -> String {
    try await eventually("\"\(prefix)\" in the output of \(name)") {
      let output = standardOutput
      return output.split(separator: "\n").dropLast(output.hasSuffix("\n") ? 0 : 1)
        .first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
  }

  deinit {
    if collectStatus() == nil {
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
  }
}
