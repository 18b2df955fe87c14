import Coverage
import Foundation
import Testing

@testable import Store

/// Which events the seals of a log confirm, after lines were changed, removed, added or cut off.
struct SealReaderTests {
  /// A log of three blocks of two events each, and one event after the last seal.
  private static let lines: [String] = {
    let scratch = try? Scratch()
    let writer = scratch.flatMap {
      try? DriveLogWriter(
        path: $0.path,
        header: DriveLogHeader(started: Log.plainHeader.started, initialPath: .cellular, parameters: nil))
    }
    for second in 1...7 {
      try? writer?.append(.at(Double(second), .radio(Technology("4G/LTE"))))
      if second.isMultiple(of: 2) { try? writer?.seal(at: .seconds(Double(second))) }
    }
    return ((try? scratch?.lines) ?? []).map(String.init)
  }()

  /// Reads the log after a change to its lines.
  private func read(_ change: (inout [String]) -> Void = { _ in }) throws -> RecordedDrive {
    var lines = Self.lines
    try #require(lines.count == 11)
    change(&lines)
    return try RecordedDrive(Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  @Test("when nothing was changed, then every event is confirmed, except those after the last seal")
  func whole() throws {
    let drive = try read()
    #expect(drive.events.count == 7 && drive.unsealed.isEmpty && drive.isHeaderSealed)
    #expect(drive.unsealedTail == 6..<7)
  }

  @Test(
    "when a digit of an event changes, then its block alone is in doubt",
    arguments: [(1, 0..<2), (2, 0..<2), (4, 2..<4), (5, 2..<4), (7, 4..<6), (8, 4..<6)])
  func digit(line: Int, doubted: Range<Int>) throws {
    let drive = try read { $0[line].replace("LTE", with: "LTF") }
    #expect(drive.unsealed == [doubted])
    #expect(drive.isHeaderSealed == (doubted.lowerBound > 0))
    #expect(drive.unsealedTail == 6..<7)
  }

  @Test("when a line is missing, then its block alone is in doubt", arguments: [(1, 0..<1), (5, 2..<3), (7, 4..<5)])
  func missing(line: Int, doubted: Range<Int>) throws {
    let drive = try read { $0.remove(at: line) }
    #expect(drive.events.count == 6)
    #expect(drive.unsealed == [doubted])
  }

  @Test("when a line is added, then its block alone is in doubt")
  func added() throws {
    let drive = try read { $0.insert(#"{"at":3.5,"radio":"5G/NR"}"#, at: 5) }
    #expect(drive.unsealed == [2..<5])
    #expect(drive.unsealedTail == 7..<8)
  }

  @Test("when a seal is missing, then its events and those of the next seal are in doubt")
  func missingSeal() throws {
    #expect(try read { $0.remove(at: 6) }.unsealed == [2..<6])
    #expect(try read { $0.remove(at: 3) }.unsealed == [0..<4])
  }

  @Test("when a seal itself is damaged, then it is garbage, and its events and those of the next seal are in doubt")
  func damagedSeal() throws {
    let drive = try read { $0[6].replace("\"bytes\"", with: "\"bytez\"") }
    #expect(drive.garbage.map(\.number) == [7])
    #expect(drive.unsealed == [2..<6])
  }

  @Test("when two blocks are swapped, then both are in doubt")
  func swapped() throws {
    let drive = try read { $0 = [$0[0]] + $0[4...6] + $0[1...3] + $0[7...] }
    #expect(drive.events.count == 7)
    #expect(drive.unsealed.first?.lowerBound == 0)
    #expect(drive.unsealed.contains { $0.overlaps(2..<4) })
  }

  @Test("when the log ends with garbage, then the events after the last seal are in doubt, not a tail")
  func garbageTail() throws {
    let drive = try read { $0.append("garbage") }
    #expect(drive.unsealedTail == nil)
    #expect(drive.unsealed == [6..<7])
  }

  @Test("when the log ends with a torn line, then the events after the last seal are its tail")
  func tornTail() throws {
    let text = Self.lines.joined(separator: "\n") + "\n" + #"{"at":8.0,"ra"#
    let drive = try RecordedDrive(Data(text.utf8))
    #expect(drive.isTorn && drive.unsealedTail == 6..<7 && drive.unsealed.isEmpty)
  }

  @Test("when the log is cut after its last seal, then there is no tail")
  func noTail() throws {
    let drive = try read { $0.removeLast() }
    #expect(drive.unsealedTail == nil && drive.unsealed.isEmpty && drive.events.count == 6)
  }

  @Test("when bytes come in pieces, then their checksum is that of the whole, the standard CRC-32")
  func checksum() {
    // The check value of CRC-32 (ISO 3309).
    #expect(Seal.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
    #expect(Seal.checksum(Array("6789".utf8), after: Seal.checksum(Array("12345".utf8))) == 0xCBF4_3926)
    #expect(Seal.checksum([UInt8](), after: 7) == 7)
    let seal = Seal(bytes: 12, checksum: 0xA).line(at: .seconds(1))
    #expect(seal.text == #"{"at":1.0,"seal":{"bytes":12,"crc32":"0000000a"}}"#)
  }
}
