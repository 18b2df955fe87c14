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
