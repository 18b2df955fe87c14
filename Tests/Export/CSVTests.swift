import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// The table of RFC 4180.
struct CSVTests {
  private func rows(_ records: [FenceRecord]) throws -> [[String]] {
    try ExportFormat.csv.text(records).components(separatedBy: "\r\n").dropLast().map { line in
      line.components(separatedBy: ",")
    }
  }

  @Test("when there is no fence, then the table has only the header line")
  func empty() throws {
    #expect(try rows([]) == [ColumnList.storedTable.map(\.name)])
  }

  @Test("when a fence has few values, then all other fields of its line are empty")
  func bare() throws {
    let rows = try rows([.bare()])
    #expect(rows.count == 2 && rows[1].count == rows[0].count)
    let known = zip(rows[0], rows[1]).filter { !$0.1.isEmpty }
    #expect(
      known.map { "\($0.0)=\($0.1)" }.prefix(8) == [
        "id=8", "session=3", "drive=2", "quarantined=false", "entered_at=2026-11-20T10:00:10.000Z",
        "exited_at=2026-11-20T10:00:14.000Z", "latitude=48.2", "longitude=16.3",
      ])
  }

  @Test(
    "when a text has a comma, a quote or a line end, then it is quoted, and its quotes are doubled",
    arguments: [
      ("A", "A"), ("A,B", "\"A,B\""), ("A \"B\"", "\"A \"\"B\"\"\""), ("A\nB", "\"A\nB\""), ("A\rB", "\"A\rB\""),
      ("", ""), ("Ö=1;2", "Ö=1;2"),
    ])
  func quotes(text: String, field: String) throws {
    let line = try ExportFormat.csv.text([.whole(link: text)])
    #expect(line.contains(",48.2082,16.3738,\(field),20.0,"), "\(line)")
  }

  @Test(
    "when a text from outside would be a formula, then an apostrophe is before it; numbers stay numbers",
    arguments: [
      ("=1+1", "'=1+1"), ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("+43", "'+43"), ("-A", "'-A"),
      ("@SUM(1)", "'@SUM(1)"),
      ("\t=1", "'\t=1"), ("\r\n=1", "\"'\r\n=1\""), ("=\u{301}1", "'=\u{301}1"), ("＝1", "'＝1"), ("'=1", "''=1"),
      ("'A", "'A"), ("A=1", "A=1"),
      ("3 Österreich", "3 Österreich"),
    ])
  func formulas(text: String, field: String) throws {
    let line = try ExportFormat.csv.text([.whole(latitude: -48.5, link: text)])
    #expect(line.contains(",-48.5,16.3738,\(field),20.0,"), "\(line)")
    #expect(line.contains(",-19.5,-15.0,-12.5,"), "levels are negative numbers")
  }

  @Test("when there are many fences, then they are written in pieces, and no fence is lost")
  func pieces() throws {
    var pieces: [[UInt8]] = []
    try ExportFormat.csv.export((0..<1000).map { .bare(id: $0) }) { pieces.append($0) }
    #expect(pieces.count > 1 && pieces.allSatisfy { $0.count < 1 << 17 })
    let lines = String(decoding: pieces.joined(), as: UTF8.self).components(separatedBy: "\r\n")
    #expect(lines.dropFirst().dropLast().map { $0.prefix { $0 != "," } } == (0..<1000).map { "\($0)" })
  }
}
