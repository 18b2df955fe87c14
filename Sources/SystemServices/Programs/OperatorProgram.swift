import Subprocess
import SystemPackage

/// A program of the operator, which may print anything, at any rate (``LineRate``).
package struct OperatorProgram: Sendable {
  /// The path of the program.
  package let path: String
  private let arguments: [String]
  private let environment: [String: String]
  private let withErrors: Bool

  /// - Parameters:
  ///   - path: The path of the program.
  ///   - arguments: Its arguments.
  ///   - environment: Variables beside those of this process.
  ///   - withErrors: Whether lines of its standard error count, too; else they are discarded.
  package init(
    path: String, arguments: [String] = [], environment: [String: String] = [:], withErrors: Bool = false
  ) {
    (self.path, self.arguments, self.environment, self.withErrors) = (path, arguments, environment, withErrors)
  }

  /// A group of its own, so that what a program has started ends with it.
  private static let ownGroup: PlatformOptions = {
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = [.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)]
    return options
  }()

  /// Runs the program until it ends and its output is closed. A cancelled task kills it with all that it has started.
  /// - Parameter receive: Lines of its output, and how many lines before them were dropped.
  /// - Returns: How it ended.
  /// - Throws: An error when it cannot be started; `CancellationError`.
  package func run(_ receive: (_ lines: [String], _ dropped: Int) -> Void) async throws -> TerminationStatus {
    let executable = Executable.path(FilePath(path))
    let variables = environment.map { (Environment.Key(stringLiteral: $0), String?.some($1)) }
    let all = Environment.inherit.updating(Dictionary(uniqueKeysWithValues: variables))
    if withErrors {
      return try await Subprocess.run(
        executable, arguments: Arguments(arguments), environment: all, platformOptions: Self.ownGroup, input: .none,
        output: .sequence, error: .combinedWithOutput
      ) { try await Self.read($0.standardOutput, receive) }.terminationStatus
    }
    return try await Subprocess.run(
      executable, arguments: Arguments(arguments), environment: all, platformOptions: Self.ownGroup, input: .none,
      output: .sequence, error: .discarded
    ) { try await Self.read($0.standardOutput, receive) }.terminationStatus
  }

  private nonisolated(nonsending) static func read(
    _ output: SubprocessOutputSequence, _ receive: (_ lines: [String], _ dropped: Int) -> Void
  ) async throws {
    var rate = LineRate()
    for try await buffer in output {
      let lines = buffer.withUnsafeBytes { rate.take($0, at: .now) }
      if !lines.isEmpty { receive(lines, rate.dropped) }
      if let next = rate.nextRead { try await Task.sleep(until: next, clock: .continuous) }
    }
    if let last = rate.unfinished { receive([last], 0) }
  }
}

/// Limits the lines of a program's output: of each read, the last lines count, and a program that prints more than ``linesPerSecond`` or
/// ``bytesPerSecond`` is read again in the next second. Meanwhile its output fills the pipe, and the kernel holds it.
package struct LineRate: Sendable {
  /// The lines that count in a second.
  package static let linesPerSecond = 10
  /// The bytes that are read in a second, and one read more: a pipe of Linux has 64 KiB.
  package static let bytesPerSecond = 65_536
  /// The bytes of a line that count.
  package static let longestLine = 16_384

  /// The lines of the last ``take(_:at:)`` that did not count.
  package private(set) var dropped = 0

  private var second: ContinuousClock.Instant?
  private var lines = 0
  private var bytes = 0
  private var partial: [UInt8] = []

  package init() {}

  /// The lines that `read` completes and that count, oldest first, without their ends (LF, CR LF). Of an empty output, none.
  package mutating func take(_ read: some Collection<UInt8>, at now: ContinuousClock.Instant) -> [String] {
    if second.map({ now >= $0 + .seconds(1) }) ?? true { (second, lines, bytes) = (now, 0, 0) }
    bytes += read.count
    var parts = read.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let rest = parts.removeLast()
    let counting = parts.suffix(max(1, Self.linesPerSecond - lines))
    dropped = parts.count - counting.count
    var taken = counting.map { [UInt8]($0.prefix(Self.longestLine)) }
    if dropped == 0, let first = taken.first { taken[0] = Self.join(partial, first) }
    partial = Self.join(parts.isEmpty ? partial : [], rest)
    lines += taken.count
    return taken.map(Self.text)
  }

  /// The line that the output ends with, if it has no end of line.
  package var unfinished: String? { partial.isEmpty ? nil : Self.text(partial) }

  /// When the program is to be read again; `nil`: at once.
  package var nextRead: ContinuousClock.Instant? {
    guard let second, lines >= Self.linesPerSecond || bytes >= Self.bytesPerSecond else { return nil }
    return second + .seconds(1)
  }

  private static func join(_ first: [UInt8], _ second: some Collection<UInt8>) -> [UInt8] {
    first + second.prefix(max(0, longestLine - first.count))
  }

  private static func text(_ line: [UInt8]) -> String {
    String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...], as: UTF8.self)
  }
}
