import Foundation

/// One connection of a test, in the server's role.
final class Measurement {
  private let stream: PeerStream
  private let secret: String?
  private let isHTTP: Bool
  private let faults: FaultState
  private var size = 4096
  private var random = [UInt8](repeating: 0, count: 4_194_304)
  private var received = [UInt8](repeating: 0, count: 262_144)
  private var pace: Pace

  init(_ stream: PeerStream, secret: String?, isHTTP: Bool, faults: FaultState) {
    (self.stream, self.secret, self.isHTTP, self.faults) = (stream, secret, isHTTP, faults)
    pace = Pace(rate: faults.rate)
  }

  func run() throws {
    if isHTTP { try upgrade() }
    if faults.has(.nul) { try stream.write("\0") }
    try stream.write("RMBTv1.3.5\n")
    try stream.write("ACCEPT TOKEN QUIT\n")
    guard try token() else { return }
    try stream.write("OK\nCHUNKSIZE 4096 4096 4194304\n")
    if faults.dropsAfterToken() { return }
    var generator = SystemRandomNumberGenerator()
    random.withUnsafeMutableBytes { bytes in
      for index in stride(from: 0, to: bytes.count, by: 8) {
        bytes.storeBytes(of: generator.next(), toByteOffset: index, as: UInt64.self)
      }
    }
    while true {
      try stream.write("ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT\n")
      let words = try stream.line().split(separator: " ").map(String.init)
      if words == ["QUIT"] {
        Journal.line("said BYE")
        return try stream.write("BYE\n")
      }
      if try !command(words) { try stream.write("ERR\n") }
    }
  }

  private func upgrade() throws {
    let lines = try stream.request().lowercased().components(separatedBy: "\r\n")
    guard lines.first?.hasPrefix("get /rmbt http/1.1") == true, lines.suffix(2) == ["", ""] else {
      throw ServerError.closed
    }
    guard lines.contains("upgrade: rmbt"), lines.contains("connection: upgrade") else {
      try stream.write("HTTP/1.1 426 Upgrade Required\r\nUpgrade: RMBT\r\nContent-Length: 0\r\n\r\n")
      throw ServerError.refused("a request without Upgrade: RMBT")
    }
    try stream.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: RMBT\r\n\r\n")
  }

  private func token() throws -> Bool {
    let words = try stream.line().split(separator: " ").map(String.init)
    guard words.count == 2, words[0] == "TOKEN" else { return false }
    let peer = SocketAddress.peer(of: stream.descriptor)
    let isGood = secret.map { TokenCheck.isGood(words[1], secret: $0, peer: peer, now: Int64(time(nil))) } ?? true
    Journal.line("token \(isGood ? "good" : "refused")")
    if !isGood { try stream.write("ERR\n") }
    return isGood
  }

  /// Whether the command and its numbers are known.
  private func command(_ words: [String]) throws -> Bool {
    let numbers = words.dropFirst().compactMap { Int($0) }
    guard numbers.count == words.count - 1, let word = words.first else { return false }
    let sizeIndex = word.hasPrefix("GET") ? 1 : 0
    if numbers.count > sizeIndex {
      guard (4096...4_194_304).contains(numbers[sizeIndex]) else { return false }
      size = numbers[sizeIndex]
    }
    switch (word, numbers.count) {
    case ("PING", 0): try ping()
    case ("GETCHUNKS", 1...2) where (1...300_000).contains(numbers[0]):
      try sendChunks { count, _ in count == numbers[0] }
    case ("GETTIME", 1...2) where (1...30).contains(numbers[0]):
      let limit = Int64(numbers[0]) * 1_000_000_000
      try sendChunks(isMain: true) { [faults] _, elapsed in elapsed >= limit && !faults.has(.noEnd) }
    case ("PUT", 0...1): try receiveChunks(reports: true)
    case ("PUTNORESULT", 0...1): try receiveChunks(reports: false)
    default: return false
    }
    return true
  }

  private func ping() throws {
    try stream.write("PONG\n")
    let start = Pace.now()
    guard try stream.line() == "OK" else { throw ServerError.refused("no OK to PONG") }
    try writeTime(Pace.now() - start)
  }

  private func writeTime(_ nanoseconds: Int64, bytes: Int? = nil) throws {
    let time = faults.has(.wrongTime) ? "soon" : String(nanoseconds)
    try stream.write("TIME \(time)\(bytes.map { " BYTES \($0)" } ?? "")\n")
  }

  /// - Parameter isLast: Whether a chunk is the last, by its number and the ns so far.
  private func sendChunks(isMain: Bool = false, isLast: (Int, Int64) -> Bool) throws {
    let start = Pace.now()
    var count = 0
    var hasEnded = false
    while !hasEnded {
      count += 1
      if isMain, count > 64 {
        if faults.has(.stall) { Thread.sleep(forTimeInterval: 60) }
        if faults.has(.reset) {
          stream.reset()
          throw ServerError.refused("reset on request")
        }
      }
      hasEnded = isLast(count, Pace.now() - start)
      random[size - 1] = faults.has(.wrongChunk) ? 0x42 : hasEnded ? 0xFF : 0
      try random.withUnsafeBytes { bytes in
        // A slow link has small steps.
        let step = pace.rate == nil ? size : min(size, 1460)
        for from in stride(from: 0, to: size, by: step) {
          let end = min(from + step, size)
          pace.wait(for: end - from)
          try stream.write(UnsafeRawBufferPointer(rebasing: bytes[from..<end]))
        }
      }
    }
    guard try stream.line() == "OK" else { throw ServerError.refused("no OK to the chunks") }
    try writeTime(Pace.now() - start)
  }

  private func receiveChunks(reports: Bool) throws {
    try stream.write("OK\n")
    let start = Pace.now()
    var (total, position, reported) = (0, 0, Int64(-1_000_000))
    var hasEnded = false
    while !hasEnded {
      let limit = pace.rate == nil ? received.count : 1460
      let count = try received.withUnsafeMutableBytes {
        try stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<limit]))
      }
      pace.wait(for: count)
      let last = size - position - 1
      for flag in stride(from: last, to: count, by: size) where received[flag] == 0xFF { hasEnded = true }
      position = (position + count) % size
      total += count
      let now = Pace.now() - start
      if reports, !hasEnded, !faults.has(.deaf), now - reported >= 1_000_000 {
        reported = now
        try writeTime(now, bytes: total)
      }
    }
    if faults.has(.deaf), reports { Thread.sleep(forTimeInterval: 30) }
    try writeTime(Pace.now() - start)
  }
}
