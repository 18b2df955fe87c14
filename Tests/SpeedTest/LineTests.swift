import Foundation
import Testing

@testable import SpeedTest

@Suite struct LineTests {
  @Test(
    "Edge 6: when a greeting has any version, then its prefix alone identifies it",
    arguments: ["0.3", "1.3.5", "1.6.0", "2"])
  func greeting(version: String) throws {
    #expect(try ServerLine("RMBTv\(version)") == .greeting(version: version))
  }

  @Test("Edge 6: when CHUNKSIZE has one or three numbers, then both forms are read")
  func chunkSizes() throws {
    #expect(try ServerLine("CHUNKSIZE 4096") == .chunkSizes(try ChunkSizes([4096])))
    #expect(try ServerLine("CHUNKSIZE 4096 4096 4194304") == .chunkSizes(try ChunkSizes([4096, 4096, 4_194_304])))
  }

  @Test("Edge 18: when TIME has BYTES, then it is an interim report, else the last one")
  func times() throws {
    #expect(try ServerLine("TIME 12 BYTES 4097") == .time(nanoseconds: 12, bytes: 4097))
    #expect(try ServerLine("TIME 12") == .time(nanoseconds: 12, bytes: nil))
  }

  @Test(
    "When a line is not of the protocol, or has an invalid number, then it is refused",
    arguments: [
      "", "ok", "OK 1", "TIME", "TIME -1", "TIME +1", "TIME 1 BYTES", "TIME 1 BYTES x", "TIME 99999999999999999999",
      "TIME 9223372036854775807", "CHUNKSIZE", "CHUNKSIZE 0", "CHUNKSIZE 1 2", "CHUNKSIZE 5 9 4", "ACCEPT",
      "CHUNKSIZE 9999999999", "CHUNKSIZE 4096 0 0", "CHUNKSIZE 4096 0 4096", "CHUNKSIZE 4096 -1 4096", "OK\r",
    ])
  func foreign(text: String) {
    #expect(throws: SpeedTestError.self) { try ServerLine(text) }
  }

  @Test("Edge 1: when NULs and blanks stand before the greeting, then they are skipped")
  func strayBytes() throws {
    var buffer = LineBuffer()
    buffer.append(Array("\0 \n".utf8))
    buffer.skipBlanks()
    #expect(buffer.isEmpty)
    buffer.append(Array("\0RMBTv1.3.5\n".utf8))
    buffer.skipBlanks()
    #expect(try buffer.next() == "RMBTv1.3.5")
  }

  @Test("Edge 3: when the greeting is in the segment of the 101 head, then it is kept for the next line")
  func greetingBehindHead() throws {
    var buffer = LineBuffer()
    buffer.append(Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: RMBT\r\n\r\n\0RMBTv1.3.5\nACC".utf8))
    #expect(try buffer.head() == ["HTTP/1.1 101 Switching Protocols", "Upgrade: RMBT"])
    buffer.skipBlanks()
    #expect(try buffer.next() == "RMBTv1.3.5")
    #expect(try buffer.next() == nil)
  }

  @Test("Edge 3: when the head comes byte by byte, then it is read at its empty line")
  func splitHead() throws {
    var buffer = LineBuffer()
    for byte in Array("HTTP/1.1 101 x\r\n\r".utf8) {
      buffer.append([byte])
      #expect(try buffer.head() == nil)
    }
    buffer.append([0x0A])
    #expect(try buffer.head() == ["HTTP/1.1 101 x"])
  }

  @Test("When a native server answers an upgrade, then the error says so at once")
  func nativeServer() {
    var buffer = LineBuffer()
    buffer.append(Array("RMBTv1.3.5\n".utf8))
    #expect(throws: SpeedTestError.upgradeRefused("it speaks RMBT without HTTP")) { try buffer.head() }
  }

  @Test("Edge 17: when reports arrive split anywhere and several at once, then each line is read once")
  func splitReports() throws {
    let text = (1...50).map { "TIME \($0)000 BYTES \($0 * 1460)\n" }.joined()
    for size in [1, 2, 3, 7, 64, 4000] {
      var (buffer, lines, rest) = (LineBuffer(), [String](), Array(text.utf8)[...])
      while !rest.isEmpty {
        buffer.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        while let line = try buffer.next() { lines.append(line) }
      }
      #expect(lines.joined(separator: "\n") + "\n" == text)
      #expect(buffer.isEmpty)
    }
  }

  @Test("When a line has no end within 1023 bytes, or is not ASCII, then it is refused")
  func badLines() throws {
    var buffer = LineBuffer()
    buffer.append([UInt8](repeating: 0x41, count: 1023) + [0x0A])
    #expect(try buffer.next()?.count == 1023)
    buffer.append([UInt8](repeating: 0x41, count: 1024))
    #expect(throws: SpeedTestError.self) { try buffer.next() }
    var other = LineBuffer()
    other.append([0xC3, 0xBC, 0x0A])
    #expect(throws: SpeedTestError.self) { try other.next() }
  }

  @Test("Edge 2: when the upgrade is composed, then it is exactly one short head, with nothing after it")
  func upgrade() {
    let text = Upgrade.request(host: "2001:db8::1", port: 443)
    #expect(text.hasPrefix("GET /rmbt HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n"))
    #expect(text.contains("\r\nConnection: Upgrade\r\nUpgrade: RMBT\r\n"))
    #expect(text.hasSuffix("\r\n\r\n"))
    #expect(text.components(separatedBy: "\r\n\r\n").count == 2)
    #expect(text.utf8.count <= 1024)
  }

  @Test(
    "When the status is not 101, then the upgrade is refused", arguments: ["HTTP/1.1 426 Upgrade Required", "x", ""])
  func status(line: String) {
    #expect(throws: SpeedTestError.self) { try Upgrade.check([line]) }
  }

  @Test("When the status is 101, then the upgrade is good")
  func switched() throws {
    try Upgrade.check(["HTTP/1.1 101 Switching Protocols"])
  }
}
