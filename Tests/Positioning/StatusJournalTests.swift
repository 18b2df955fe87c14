import Testing

@testable import Positioning

@Suite struct StatusJournalTests {
  private var journal = StatusJournal(reminder: .seconds(60))

  private mutating func note(_ status: PositioningStatus, at seconds: Double) -> Int? {
    journal.note(status, at: TestTime.at(seconds).instant).logged
  }

  @Test mutating func `when two complaints take turns, then six a minute are logged and the others are counted`() {
    let logged = (0..<1200).compactMap { note(.complaint($0.isMultiple(of: 2) ? "a" : "b"), at: Double($0) / 10) }
    #expect(logged.count <= 14)
    #expect(logged.reduce(logged.count, +) >= 600)
  }

  @Test mutating func `when a receiver comes and goes, then the log has its last state`() {
    for second in 0..<40 {
      _ = note(second.isMultiple(of: 2) ? .noFix : .positioned(device: "a"), at: Double(second))
    }
    let early = journal.overdueLines(at: TestTime.at(50).instant)
    #expect(early.isEmpty)
    let settled = journal.overdueLines(at: TestTime.at(60).instant)
    #expect(settled.map(\.status) == [.positioned(device: "a")])
    #expect(settled.map(\.leftOut) == [33])
    let late = journal.overdueLines(at: TestTime.at(200).instant)
    #expect(late.isEmpty)
  }

  @Test mutating func `when the connection is back before its end is logged, then its end is not logged later`() {
    _ = note(.connected(release: "3.22"), at: 0)
    for second in 1..<40 { _ = note(.disconnected(reason: "silent \(second)"), at: Double(second)) }
    _ = note(.connected(release: "3.22"), at: 40)
    for second in 41..<50 {
      _ = note(.disconnected(reason: "silent again \(second)"), at: Double(second))
      _ = note(.connected(release: "3.22"), at: Double(second) + 0.5)
    }
    let settled = (50..<200).flatMap { journal.overdueLines(at: TestTime.at(Double($0)).instant) }
    #expect(settled.allSatisfy { $0.status == .connected(release: "3.22") }, "\(settled)")
  }

  @Test mutating func `when a state changes, then listeners get it even if the log does not`() {
    for second in 0..<40 {
      let verdict = journal.note(second.isMultiple(of: 2) ? .noFix : .connecting, at: TestTime.at(0).instant)
      #expect(verdict.isNews)
    }
  }

  @Test mutating func `when statuses are of different kinds, then one does not silence the other`() {
    for second in 0..<40 { _ = note(.complaint("\(second)"), at: Double(second)) }
    let logged = [note(.noFix, at: 40), note(.disconnected(reason: "x"), at: 40)]
    #expect(logged == [0, 0])
  }

  @Test func `when gpsd's texts are hostile, then each status is one short line`() {
    let evil = String(repeating: "\n\u{1B}]0;x\u{7}", count: 1000)
    let statuses: [PositioningStatus] = [
      .complaint(evil), .connected(release: evil), .positioned(device: evil), .devices([evil, evil]),
    ]
    for status in statuses {
      #expect(!status.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
      #expect(status.description.count < 230)
    }
  }
}
