import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import coverage_probe

/// The table of `sessions`: it fits 100 columns, whatever the store has.
struct SessionTableTests {
  private func session(
    _ id: Int64, link: String? = nil, fences: Int = 3, sent: Int = 0, quarantined: Int = 0, test: String? = nil,
    reason: String? = nil, isIntact: Bool = true, damaged: Int = 0, target: String? = nil
  ) -> StoredSession {
    let started = WallTime.sampleStart.microseconds
    return StoredSession(
      row: Row(
        [
          "id": id, "drive_id": id, "drive_started_at": started, "number": 0, "started_at": started, "link": link,
          "test_uuid": test, "finalized_at": started + 1, "quarantine_reason": reason,
          "submitted_at": sent == fences && fences > 0 ? started + 2 : nil, "is_intact": isIntact, "fences": fences,
          "sent_fences": 0, "readable_fences": fences - damaged, "submittable_fences": fences - damaged,
          "submitted_fences": sent, "quarantined_fences": quarantined, "target": target, "kept_fences": 0,
          "is_of_latest_drive": false,
        ] as [String: (any DatabaseValueConvertible)?]))
  }

  private func lines(_ sessions: [StoredSession]) -> [String] {
    SessionListing(sessions: sessions, isWriterAlive: false).table.split(separator: "\n").map(String.init)
  }

  private static let uuid = "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"

  @Test("when names, numbers and reasons are long, then no line of any state is wider than 100 columns")
  func wide() {
    let reason = String(repeating: "the server's long reason ", count: 20)
    let lines = lines([
      session(1, link: String(repeating: "W", count: 32), test: Self.uuid),
      session(
        123_456_789, link: String(repeating: "車", count: 32), fences: 987_654_321, sent: 987_654_321, test: Self.uuid),
      session(3, link: "Тест", quarantined: 3, test: String(repeating: "x", count: 300), reason: reason),
      session(4, isIntact: false), session(5, fences: 9, test: "T", damaged: 4), session(6, fences: 0),
      session(7, target: "udp-echo " + String(repeating: "x", count: 253)),
    ])
    for line in lines { #expect(TerminalColumns.count(line) <= 100, "\(line)") }
    #expect(lines.count == 7 + 1 + 5, "five sessions have notes")
    #expect(lines.contains { $0.hasPrefix("    not submitted: udp-echo xxx") && $0.hasSuffix("…") })
    #expect(
      lines.contains { $0.contains("車") && $0.contains("…") && $0.contains("submitted") && $0.contains("987654321") })
    #expect(lines.contains { $0.hasPrefix("    3 fences quarantined: the server's long reason") && $0.hasSuffix("…") })
    #expect(
      lines.contains("    damaged: the next submit repairs it; nothing to send")
        || lines.contains("    damaged: the next submit repairs it"))
    #expect(lines.contains("    4 fences damaged"))
  }

  @Test("when a link's name has wide characters, then the columns behind it stay aligned")
  func aligned() {
    let lines = lines([session(1, link: "車1"), session(2, link: "Wien-Süd"), session(3, link: "e\u{301}")])
    let places = lines.map { line in line.range(of: "pending").map { TerminalColumns.count(line[..<$0.lowerBound]) } }
    #expect(Set(places.dropFirst()).count == 1 && places[1] != nil)
  }

  @Test("when a test's identifier is a UUID and there is a link, then the identifier is whole")
  func whole() {
    let lines = lines([session(12_345, link: "Wien-Süd", fences: 1_234_567, sent: 1_234_567, test: Self.uuid)])
    #expect(lines[1] == "12345  2026-11-20T10:00:00Z  Wien-Süd  1234567  submitted  \(Self.uuid)")
  }

  @Test("when no session has a link, then there is no column for it")
  func noLinks() {
    #expect(lines([session(1)])[0] == "id  started               fences  state    test")
  }

  @Test("when text has wide characters, then its columns are counted and cut by what a terminal shows")
  func columns() {
    for (text, columns) in [
      ("", 0), ("abc", 3), ("Тест", 4), ("車1", 3), ("e\u{301}", 1), ("🚗", 2), ("한국", 4), ("Ａ", 2),
    ] {
      #expect(TerminalColumns.count(text) == columns, "\(text)")
    }
    #expect(TerminalColumns.prefix("車車車", 5) == "車車" && TerminalColumns.prefix("ab", 9) == "ab")
    #expect(LineWidth.shortened("車車車", to: 5) == "車車…" && LineWidth.shortened("車車", to: 4) == "車車")
    #expect(LineWidth.shortened("ab", to: 1) == "…" && LineWidth.shortened("ab", to: 0).isEmpty)
  }
}
