import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

/// A drive log read in pieces.
struct LoggedPositionsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func log(_ lines: [String], end: String = "\n") throws -> LoggedPositions {
    try LoggedPositions(path: try folder.write(([Log.header] + lines).joined(separator: "\n") + end, to: "log.jsonl"))
  }

  private func fix(_ second: Int) -> String {
    #"{"at":\#(second).5,"fix":{"latitude":48.2,"longitude":16.3,"accuracy":5.0},"delivered":\#(second).7,"mode":3}"#
  }

  private let ping = #"{"at":0.1,"ping":{"rtt_ms":31.67},"sequence":7}"#

  @Test("when a log has positions among pings, then the positions, and all events, are read in order with their times")
  func positions() throws {
    let log = try log([fix(0), ping, #"{"at":2.0,"path":"wifi"}"#, fix(3), #"{"at":4.0,"fix":{}}"#])
    var times: [DriveTime] = []
    var lost = 0
    let unreadable = try log.forEach { time, fix in
      times.append(time)
      if fix.coordinate == nil { lost += 1 }
    }
    #expect(times == [.seconds(0.5), .seconds(3.5), .seconds(4)] && lost == 1 && unreadable == 0)
    var kinds: [String] = []
    #expect(try log.forEachEvent { kinds.append("\($0.kind)".prefix { $0 != "(" }.description) } == 0)
    #expect(kinds.map { $0.split(separator: ".").last.map(String.init) } == ["fix", "ping", "path", "fix", "fix"])
    #expect(log.header.started == .sampleStart)
  }

  @Test("when positions name drivers and a model, then the receiver is the first with a model, else the first driver")
  func receiver() throws {
    func fix(_ driver: String) -> String { #"{"at":1.5,"fix":{"latitude":48.2,"longitude":16.3},"driver":\#(driver)}"# }
    let model = #""u-blox","model":"SPG 3.01""#
    let log = try log([self.fix(0), ping, fix("7"), fix(#""u-blox""#), fix(#""NMEA0183""#)])
    #expect(try log.receiver() == "u-blox")
    let second = #""SiRF","model":"4e""#
    #expect(try self.log([fix(#""NMEA0183""#), ping, fix(model), fix(second)]).receiver() == "u-blox (SPG 3.01)")
    #expect(try self.log([ping, self.fix(0)]).receiver() == nil)
  }

  @Test("when a log is read in pieces, then it has the same events as the log read as a whole")
  func asAWhole() throws {
    let lines = (0..<3000).flatMap { [fix($0), ping] }
    let log = try log(
      lines + ["garbage", #"{"at":9.0,"seal":{"bytes":1,"crc32":"00000000"}}"#, #"{"at":1.0,"new":{}}"#])
    var events: [Event] = []
    #expect(try log.forEachEvent { events.append($0) } == 1)
    let whole = try RecordedDrive(path: folder.file("log.jsonl"))
    #expect(events == whole.events && whole.garbage.count == 1)
  }

  @Test("when the last line is cut off, then all lines before it are read", arguments: ["", "{\"at\":9.5,\"fi", "{"])
  func torn(end: String) throws {
    var count = 0
    let unreadable = try log([fix(0), fix(1)], end: "\n" + end).forEach { _, _ in count += 1 }
    #expect(count == 2 && unreadable == (end.isEmpty ? 0 : 1))
    var whole = 0
    _ = try log([fix(0), fix(1)], end: "").forEach { _, _ in whole += 1 }
    #expect(whole == 2, "a last line without its end can be whole")
  }

  @Test("when a line is very long, then it is skipped, and the lines after it are read")
  func longLine() throws {
    let long = #"{"at":1.0,"fix":{"latitude":48.2,"note":""# + String(repeating: "x", count: 300_000) + #""}}"#
    var times: [DriveTime] = []
    let unreadable = try log([fix(0), long, fix(2)]).forEach { time, _ in times.append(time) }
    #expect(times == [.seconds(0.5), .seconds(2.5)] && unreadable > 0)
  }

  @Test(
    "when there is no log, or its first line is no header, then reading fails",
    arguments: ["", "{}\n", "[]\n", "PK\u{3}"])
  func noLog(text: String) throws {
    let path = try folder.write(text, to: "other")
    #expect(throws: DriveLogError.self) { try LoggedPositions(path: path) }
    #expect(throws: DriveLogError.self) { try LoggedPositions(path: folder.file("missing")) }
    #expect(throws: DriveLogError.self) { try LoggedPositions(path: folder.path) }
  }

  @Test("when the receiver of events fails, then reading ends with its error")
  func failingReceiver() throws {
    struct Enough: Error {}
    var count = 0
    #expect(throws: Enough.self) {
      try log((0..<10).map(fix)).forEach { _, _ in
        count += 1
        if count == 3 { throw Enough() }
      }
    }
    #expect(count == 3)
  }
}
