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

  /// Runs the program until it ends and its output is closed. A cancelled task kills it.
  /// - Parameter receive: Lines of its output, and how many lines before them were dropped.
  /// - Returns: How it ended.
  /// - Throws: An error when it cannot be started; `CancellationError`.
  package func run(_ receive: (_ lines: [String], _ dropped: Int) -> Void) async throws -> TerminationStatus {
    let executable = Executable.path(FilePath(path))
    let variables = environment.map { (Environment.Key(stringLiteral: $0), String?.some($1)) }
    let all = Environment.inherit.updating(Dictionary(uniqueKeysWithValues: variables))
    if withErrors {
      return try await Subprocess.run(
        executable, arguments: Arguments(arguments), environment: all, input: .none, output: .sequence,
        error: .combinedWithOutput
      ) { try await Self.read($0.standardOutput, receive) }.terminationStatus
    }
    return try await Subprocess.run(
      executable, arguments: Arguments(arguments), environment: all, input: .none, output: .sequence, error: .discarded
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
