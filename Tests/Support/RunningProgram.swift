import Foundation

/// A program that a test runs, with what it printed.
public final class RunningProgram: @unchecked Sendable {
  private let process = Process()
  private let output = Collector()
  private let errors = Collector()

  public static func product(
    _ name: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(Surroundings.product(name), arguments, environment: environment)
  }

  public init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output.pipe
    process.standardError = errors.pipe
    try process.run()
  }

  public var pid: Int32 { process.processIdentifier }
  public var isRunning: Bool { process.isRunning }
  public var standardOutput: String { output.text }
  public var standardError: String { errors.text }

  public func signal(_ number: Int32) { if process.isRunning { kill(pid, number) } }

  /// The exit status, once it is there; a signal's number is negative.
  public func exitStatus(within limit: Duration = .seconds(60)) async throws -> Int32 {
    try await eventually(within: limit, "\(process.executableURL?.lastPathComponent ?? "program") ends") {
      process.isRunning || !output.isComplete || !errors.isComplete ? nil : ()
    }
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }

  /// Ends it, and waits until it has.
  public func stop() async throws {
    signal(SIGTERM)
    _ = try await exitStatus()
  }

  /// The rest of the first line of the output that begins with `prefix`.
  public func line(after prefix: String) async throws -> String {
    try await eventually("\"\(prefix)\" in the output; on stderr: \(standardError)") {
      standardOutput.split(separator: "\n").dropLast(standardOutput.hasSuffix("\n") ? 0 : 1)
        .first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
  }

  deinit { if process.isRunning { kill(pid, SIGKILL) } }
}

/// Collects what comes out of a pipe.
private final class Collector: @unchecked Sendable {
  let pipe = Pipe()
  private let lock = NSLock()
  private var data = Data()
  private var ended = false

  init() {
    pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
      let chunk = handle.availableData
      self?.take(chunk)
      if chunk.isEmpty { handle.readabilityHandler = nil }
    }
  }

  private func take(_ chunk: Data) {
    lock.withLock {
      data += chunk
      if chunk.isEmpty { ended = true }
    }
  }

  var text: String { lock.withLock { String(decoding: data, as: UTF8.self) } }
  var isComplete: Bool { lock.withLock { ended } }
}
