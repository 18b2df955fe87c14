import Pinging

/// The targets of a file: one a line, `#` starts a comment.
struct PingTargetList: Hashable, Sendable {
  /// A line that is no target.
  struct Problem: Error, Hashable, CustomStringConvertible {
    let file: String
    /// From 1.
    let line: Int
    let reason: String

    /// For the operator, e.g. `targets.txt:3: the line is longer than 1000 bytes`.
    var description: String { "\(file):\(line): \(reason)" }
  }

  /// No name is as long; the resolver need not be asked.
  private static let longestLine = 1000

  /// Names and addresses, in the order of the lines.
  private(set) var names: [String] = []
  /// The lines that are no target, in order. They do not affect the other lines.
  private(set) var problems: [Problem] = []

  init() {}

  /// - Parameter file: The name of the file in ``problems``.
  init(_ text: String, file: String) {
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      if let reason = Self.problem(of: line) {
        problems.append(Problem(file: file, line: index + 1, reason: reason))
      } else {
        names += Self.words(of: line)
      }
    }
  }

  private static func problem(of line: Substring) -> String? {
    if line.utf8.count > longestLine { return "the line is longer than \(longestLine) bytes" }
    if line.utf8.contains(0) { return "the line contains a zero byte" }
    if words(of: line).count > 1 { return "the line has more than one target" }
    return nil
  }

  private static func words(of line: Substring) -> [String] {
    line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}

/// Resolves the names of all targets, several at a time: each look-up blocks a thread, and an unknown name can take
/// half a minute.
struct PingNames {
  typealias Found = Result<PingTarget, NameError>

  /// The number of simultaneous look-ups.
  static let atATime = 8

  let options: PingOptions

  /// - Returns: The result for each of `names`, in the same order.
  func targets(_ names: [String]) async -> [Found] {
    await withTaskGroup(of: (index: Int, found: Found).self) { group in
      var all: [Int: Found] = [:]
      for (index, name) in names.enumerated() {
        if index >= Self.atATime, let next = await group.next() { all[next.index] = next.found }
        group.addTask { (index, await target(name)) }
      }
      for await next in group { all[next.index] = next.found }
      return names.indices.compactMap { all[$0] }
    }
  }

  /// The target with the first address of its name; its source must have the same IP version.
  private func target(_ name: String) async -> Found {
    var target = options.target
    do throws(NameError) {
      target.address = try await PingAddress.resolve(name, port: target.address.port, family: options.family)[0]
      if let source = options.source {
        target.source = try await PingAddress.resolve(source, port: 0, family: target.address.family)[0]
      }
      return .success(target)
    } catch {
      return .failure(error)
    }
  }
}
