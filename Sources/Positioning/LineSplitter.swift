/// Cuts a byte stream into lines, however the network has broken it up (spec/gpsd.md 1).
public struct LineSplitter: Sendable {
  /// Bytes a line may have, its end apart. gpsd's documented 10240 is no upper bound: 12811 have been seen.
  public static let maximumLength = 65_536

  /// Lines that were too long and have been thrown away up to their end.
  public private(set) var overlongLines = 0

  private var partial: [UInt8] = []
  private var discarding = false

  public init() {}

  /// The lines that `bytes` completes, without LF or CR LF; empty ones are left out.
  public mutating func push(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        if let line = finishLine() { lines.append(line) }
      } else if !discarding {
        keep(byte)
      }
    }
    return lines
  }

  /// The longest line is followed by CR: that one byte more is let in, and judged at the line's end.
  private mutating func keep(_ byte: UInt8) {
    partial.append(byte)
    guard partial.count > Self.maximumLength + 1 else { return }
    discard()
    discarding = true
  }

  private mutating func finishLine() -> [UInt8]? {
    defer { partial.removeAll(keepingCapacity: partial.capacity <= 16_384) }
    if discarding {
      discarding = false
      return nil
    }
    if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
    guard partial.count <= Self.maximumLength else {
      discard()
      return nil
    }
    return partial.isEmpty ? nil : partial
  }

  private mutating func discard() {
    overlongLines += 1
    partial = []
  }
}
