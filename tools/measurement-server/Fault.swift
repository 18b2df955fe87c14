import ArgumentParser

/// A fault on request.
enum Fault: Hashable, Sendable {
  /// A limit in bytes a second for each direction of each connection.
  case slow(Int)
  /// GETTIME sends nothing more after 64 chunks, for 60 s.
  case stall
  /// GETTIME resets the connection after 64 chunks.
  case reset
  /// Chunks end with 0x42.
  case wrongChunk
  /// Times are text instead of numbers.
  case wrongTime
  /// GETTIME never sends the last chunk.
  case noEnd
  /// PUT is never reported.
  case deaf
  /// The first connections are closed before the greeting.
  case closeFirst(Int)
  /// A NUL precedes the greeting.
  case nul
  /// The third thread's connection is closed after its token.
  case dropThird
  /// QoS: this percentage of UDP packets is dropped, evenly, in each direction of each port.
  case udpDrop(Int)
  /// QoS: the line of a proxy test comes back changed.
  case rewrite
  /// QoS: commands have no effect and no reply.
  case silent

  static let list =
    "slow=BYTES_A_SECOND, stall, reset, wrong-chunk, wrong-time, no-end, deaf, close-first=N, nul, drop-third. "
    + "QoS: udp-drop=PERCENT, rewrite, silent."

  init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1)
    let number = parts.count == 2 ? Int(parts[1]).flatMap { (1...1_000_000_000).contains($0) ? $0 : nil } : nil
    switch (parts.first, number, parts.count) {
    case ("slow", let rate?, _): self = .slow(rate)
    case ("close-first", let count?, _): self = .closeFirst(count)
    case ("udp-drop", let percent?, _) where percent <= 100: self = .udpDrop(percent)
    case ("rewrite", _, 1): self = .rewrite
    case ("silent", _, 1): self = .silent
    case ("stall", _, 1): self = .stall
    case ("reset", _, 1): self = .reset
    case ("wrong-chunk", _, 1): self = .wrongChunk
    case ("wrong-time", _, 1): self = .wrongTime
    case ("no-end", _, 1): self = .noEnd
    case ("deaf", _, 1): self = .deaf
    case ("nul", _, 1): self = .nul
    case ("drop-third", _, 1): self = .dropThird
    default: throw ValidationError("--fault \(text): expected one of \(Self.list)")
    }
  }
}
