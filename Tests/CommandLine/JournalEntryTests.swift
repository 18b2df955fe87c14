import Coverage
import Foundation
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// Log lines that operators filter the journal for.
struct JournalEntryTests {
  @Test("when a line is an event, then the journal gets it with its priority and the event's identifier")
  func fields() {
    #expect(
      String(decoding: Journal.entry("a drive begins (always recording)", .info, .driveBegan), as: UTF8.self) == """
        MESSAGE=a drive begins (always recording)
        PRIORITY=6
        MESSAGE_ID=\(OperatorEvent.driveBegan.messageID)
        COVERAGE_PROBE_EVENT=drive-began
        SYSLOG_IDENTIFIER=coverage-probe

        """)
  }

  @Test("when there is no journal, then sending returns the reason")
  func noJournal() throws {
    let folder = try TemporaryFolder()
    #expect(UnixDatagram.send([1], to: Array(folder.file("journal").utf8)) == ENOENT)
    #expect(UnixDatagram.send([1], to: Array(repeating: 0x78, count: 108)) == ENAMETOOLONG)
  }

  @Test("when an event is declared, then its identifier is 128 bits of its own", arguments: OperatorEvent.allCases)
  func identifier(event: OperatorEvent) {
    #expect(event.messageID.wholeMatch(of: /[0-9a-f]{32}/) != nil)
    #expect(OperatorEvent.allCases.filter { $0.messageID == event.messageID } == [event])
  }

  @Test("when an event is declared, then docs/service.md has its identifier", arguments: OperatorEvent.allCases)
  func documented(event: OperatorEvent) throws {
    let page = try String(contentsOf: Surroundings.root.appending(path: "docs/service.md"), encoding: .utf8)
    #expect(page.contains("| `\(event)` | `\(event.messageID)` | "))
  }
}
