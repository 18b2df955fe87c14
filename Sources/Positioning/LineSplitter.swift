import NIOCore

/// Splits a byte stream into lines, for any segmentation by the network (docs/protocol.md, 4.1).
struct LineSplitter: Sendable {
  /// The largest length of a line in bytes, without its end. gpsd documents 10240, but lines of 12811 bytes have been seen.
  static let maximumLength = 65_536

  /// The number of lines that were too long and were discarded.
  private(set) var overlongLines = 0

  private var partial: [UInt8] = []
  private var discarding = false

  init() {}

  /// The lines that `bytes` completes, without LF or CR LF; empty ones are left out.
  mutating func push(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        if let line = finishLine() { lines.append(line) }
      } else if !discarding {
        append(byte)
      }
    }
    return lines
  }

  /// Allows one byte more than the longest line, for a CR; the end of the line is checked in `finishLine`.
  private mutating func append(_ byte: UInt8) {
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

/// An event of the socket, with the number of its connection, or of the alarm clock.
enum SocketInput: Sendable {
  case connected(connection: Int, any Channel)
  /// The connection could not be made; the reason is for the operator.
  case failed(connection: Int, String)
  case bytes(connection: Int, [UInt8])
  /// The connection ended; with the text of an error, if there was one.
  case ended(connection: Int, String?)
  /// The time of the alarm has come.
  case alarm(at: ContinuousClock.Instant)
}
