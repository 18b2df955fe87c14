/// Collects bytes of the server and cuts them into lines. Lines may arrive split anywhere, several at once (docs/protocol.md, edge 17).
struct LineBuffer: Sendable {
  private var bytes: [UInt8] = []
  /// The index of the first byte that no line used.
  private var start = 0
  private let longest: Int

  /// - Parameter longest: The most bytes of a line without its LF (docs/protocol.md, 7.2).
  init(longest: Int = 1023) { self.longest = longest }

  /// Whether every byte was used: nothing stands behind the last line.
  var isEmpty: Bool { start == bytes.count }

  /// Appends bytes as they were read, and drops those that lines used.
  mutating func append(_ more: some Collection<UInt8>) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The next whole line without its LF; `nil` until there is one.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` for a line that is too long, or other than ASCII.
  mutating func next() throws(SpeedTestError) -> String? {
    guard let end = bytes[start...].firstIndex(of: 0x0A) else {
      if bytes.count - start > longest { throw .protocolError("a line of more than \(longest) bytes") }
      return nil
    }
    guard end - start <= longest else { throw .protocolError("a line of more than \(longest) bytes") }
    let line = bytes[start..<end]
    start = end + 1
    guard line.allSatisfy({ $0 < 0x80 }) else { throw .protocolError("a line that is not ASCII") }
    return String(decoding: line, as: UTF8.self)
  }

  /// The lines of the head of an HTTP answer, up to the empty line, which is removed too (docs/protocol.md, edge 3). `nil` until it is there.
  /// - Throws: ``SpeedTestError/upgradeRefused(_:)`` when the server greets in place of HTTP,
  ///   ``SpeedTestError/protocolError(_:)`` for a head of more than 8192 bytes.
  mutating func head() throws(SpeedTestError) -> [String]? {
    let rest = Array(bytes[start...])
    let mark: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    var index = 0
    while index + mark.count <= min(rest.count, 8192) {
      if Array(rest[index..<index + 4]) == mark {
        start += index + 4
        return String(decoding: rest[..<index], as: UTF8.self).split(separator: "\r\n").map(String.init)
      }
      index += 1
    }
    // A server of the native protocol, or an HTTP server that gives up, speaks without an empty line.
    if rest.starts(with: Array("RMBTv".utf8)) { throw .upgradeRefused("it speaks RMBT without HTTP") }
    if rest.count >= 8192 { throw .protocolError("a head of more than 8192 bytes") }
    return nil
  }

  /// Removes NULs and blanks that stand before the greeting (docs/protocol.md, edge 1).
  mutating func skipBlanks() {
    while start < bytes.count, [0, 0x20, 0x0A, 0x0D, 0x09].contains(bytes[start]) { start += 1 }
  }
}
