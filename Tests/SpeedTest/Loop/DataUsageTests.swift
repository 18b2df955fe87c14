import Coverage
import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// The data budget. Times are days and hours after 2027-01-15T08:00Z.
@Suite struct DataUsageTests {
  private func wall(_ days: Double, hours: Double = 0) -> WallTime {
    LoopRig.startWall.adding(.seconds(days * 86_400 + hours * 3600))
  }

  // MARK: The usage

  @Test("when bytes are added, then they count in their day and in their month, until the UTC day or month ends")
  func periods() {
    var usage = DataUsage()
    usage.add(10, at: wall(0))
    usage.add(5, at: wall(0, hours: 15.99))
    usage.add(1, at: wall(0, hours: 16))
    #expect(usage.usedInDay(at: wall(0)) == 15 && usage.usedInDay(at: wall(1)) == 1)
    #expect(usage.usedInMonth(at: wall(16)) == 16)
    #expect(usage.usedInMonth(at: wall(16, hours: 16)) == 0)
    #expect(usage.usedInDay(at: wall(2)) == 0)
  }

  @Test("when a number of bytes is not positive, then it frees nothing; when it is huge, then nothing overflows")
  func oddBytes() {
    var usage = DataUsage()
    usage.add(10, at: wall(0))
    usage.add(-5, at: wall(0))
    usage.add(0, at: wall(0))
    usage.add(.min, at: wall(0))
    #expect(usage.usedInDay(at: wall(0)) == 10)
    for day in 0..<3 { usage.add(.max, at: wall(Double(day))) }
    usage.add(.max, at: nil)
    usage.chargeInterruptedTest(at: wall(0))
    #expect(usage.usedInMonth(at: wall(0)) == .max && usage.usedInDay(at: wall(0)) == .max)
  }

  @Test("when the clock is set to another day and back, then the use of the first day does not change")
  func clockSet() {
    var usage = DataUsage()
    usage.add(10, at: wall(0))
    usage.add(7, at: wall(400))
    #expect(usage.usedInDay(at: wall(0)) == 10 && usage.usedInMonth(at: wall(0)) == 10)
    usage.add(1, at: wall(0))
    #expect(usage.usedInDay(at: wall(0)) == 11)
  }

  @Test("when the date is not known, then the bytes count in every period, and belong to the first known day")
  func undated() {
    var usage = DataUsage()
    usage.add(10, at: nil)
    #expect(usage.usedInDay(at: nil) == 10 && usage.usedInDay(at: wall(3)) == 10)
    #expect(usage.usedInMonth(at: wall(90)) == 10 && usage.usedInMonth(at: nil) == 10)
    usage.date(at: WallTime(microseconds: 0))
    #expect(usage.undated == 10)
    usage.date(at: wall(3))
    #expect(usage.usedInDay(at: wall(3)) == 10 && usage.usedInDay(at: wall(4)) == 0)
    // The latest known day stands in for an unknown one.
    #expect(usage.usedInDay(at: nil) == 10)
  }

  @Test("when more than 64 days have bytes, then the farthest are dropped, but no day of this month or of the last one")
  func bounded() {
    var usage = DataUsage()
    for day in 0..<200 {
      usage.add(1, at: wall(Double(day)))
      #expect(usage.days.count <= 64)
    }
    // 2027-08-02: all days of July.
    #expect(usage.usedInMonth(at: wall(198 - 31)) == 31 && usage.days.count == 64)
  }

  @Test("when a test was interrupted, then it counts as the largest test so far, or as 100 MB without one")
  func interrupted() {
    var usage = DataUsage()
    usage.beginTest()
    usage.add(30, at: wall(0))
    usage.chargeInterruptedTest(at: wall(0))
    #expect(usage.usedInDay(at: wall(0)) == DataUsage.unknownTest)
    usage = DataUsage()
    for size: Int64 in [500, 200] {
      usage.beginTest()
      usage.add(size, at: wall(0))
      usage.endTest()
    }
    usage.beginTest()
    usage.add(30, at: wall(0))
    usage.chargeInterruptedTest(at: wall(0))
    #expect(usage.usedInDay(at: wall(0)) == 500 + 200 + 500)
    usage.beginTest()
    usage.add(900, at: wall(0))
    usage.chargeInterruptedTest(at: wall(0))
    #expect(usage.usedInDay(at: wall(0)) == 1200 + 900)
  }

  @Test("when the month of a day is computed, then it equals Foundation's, for days up to 2199")
  func months() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    for day in stride(from: 0, through: 84_005, by: 9) {
      let parts = calendar.dateComponents([.year, .month], from: Date(timeIntervalSince1970: Double(day) * 86_400))
      let month = CalendarMonth(day: day)
      #expect(month.year == parts.year && month.month == parts.month, "day \(day)")
    }
    // The ends of all Februaries and of years.
    for year in 1970..<2200 {
      for (month, dayOfMonth) in [(1, 1), (2, 28), (3, 1), (12, 31)] {
        let date = try #require(calendar.date(from: DateComponents(year: year, month: month, day: dayOfMonth)))
        let computed = CalendarMonth(day: Int((date.timeIntervalSince1970 / 86_400).rounded()))
        #expect(computed.year == year && computed.month == month, "\(year)-\(month)-\(dayOfMonth)")
      }
    }
    #expect(CalendarMonth(day: .min) == CalendarMonth(day: 0))
    #expect(CalendarMonth(day: .max) == CalendarMonth(day: 84_005))
  }

  @Test("when a usage is written and read, then it is the same; when it is impossible, then it is refused")
  func coding() throws {
    var usage = DataUsage()
    usage.add(10, at: wall(0))
    usage.add(.max, at: wall(1))
    usage.endTest()
    usage.add(3, at: nil)
    #expect(try JSONDecoder().decode(DataUsage.self, from: try JSONEncoder().encode(usage)) == usage)
    for text in [
      #"{"days":{"-1":5},"undated":0,"largest":0,"current":0}"#,
      #"{"days":{"84006":5},"undated":0,"largest":0,"current":0}"#,
      #"{"days":{"20000":-5},"undated":0,"largest":0,"current":0}"#,
      #"{"days":{},"undated":-1,"largest":0,"current":0}"#,
      #"{"days":{},"undated":0,"largest":-1,"current":0}"#,
      #"{"days":{},"undated":0,"largest":0,"current":-1}"#,
    ] {
      #expect(try JSONDecoder().decode(DataUsage.self, from: Data(text.utf8)).flaw != nil, "\(text)")
    }
    let huge = #"{"days":{},"undated":1e30,"largest":0,"current":0}"#
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(DataUsage.self, from: Data(huge.utf8)) }
    let many = (0..<65).map { "\"\($0)\":1" }.joined(separator: ",")
    let text = #"{"days":{\#(many)},"undated":0,"largest":0,"current":0}"#
    #expect(try JSONDecoder().decode(DataUsage.self, from: Data(text.utf8)).flaw != nil)
    #expect(usage.flaw == nil)
  }

  // MARK: The budget of a loop

  private func loop(day: Int64? = nil, month: Int64? = nil, usage: DataUsage = DataUsage()) throws -> LoopRig {
    LoopRig(
      try LoopRules(
        every: .seconds(300), distance: nil, data: try DataLimits(day: day, month: month)), usage: usage)
  }

  @Test("when the limit of the day is used up, then the next test is held back with a notice until the day ends")
  func dayLimit() throws {
    var rig = try loop(day: 100)
    rig.send(.tick)
    rig.send(.traffic(bytes: 99))
    rig.send(.completed(1))
    #expect(rig.send(.tick, after: 300) == [.start(2)])
    rig.send(.traffic(bytes: 70))
    rig.send(.completed(2))
    let notice = LoopNotice(number: 3, hold: .dayLimit, used: 169, limit: 100, isDateKnown: true)
    #expect(rig.send(.tick, after: 300) == [.notice(notice)])
    #expect(rig.send(.tick, after: 16 * 3600 - 600 - 1).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.start(3)])
  }

  @Test(
    "when a limit holds a test back, then the loop requests a wake-up within a minute: the date can change at any time"
  )
  func wakeUp() throws {
    var rig = try loop(day: 100)
    rig.send(.traffic(bytes: 100))
    rig.send(.completed(1))
    rig.send(.tick, after: 330)
    #expect(rig.wakeAt == .seconds(1000 + 360))
  }

  @Test("when a limit is reached during a test, then the test goes on")
  func notAborted() throws {
    var rig = try loop(day: 100, month: 100)
    rig.send(.tick)
    #expect(rig.send(.traffic(bytes: 5000)).isEmpty)
    #expect(rig.coordinator.memory.stage == .testing)
  }

  @Test("when the limit of the month is used up, then the notice names the month")
  func monthLimit() throws {
    var usage = DataUsage()
    usage.add(1000, at: wall(-3))
    let notice = LoopNotice(number: 1, hold: .monthLimit, used: 1000, limit: 1000, isDateKnown: true)
    var rig = try loop(day: 5, month: 1000, usage: usage)
    #expect(rig.send(.tick) == [.notice(notice)])
  }

  @Test(
    "when the date is not known and the budget used up, then the notice says so, and the known date releases the test")
  func unknownDate() throws {
    var usage = DataUsage()
    usage.add(100, at: wall(-1))
    var rig = try loop(day: 100, usage: usage)
    rig.isWallTrusted = false
    let notice = LoopNotice(number: 1, hold: .dayLimit, used: 100, limit: 100, isDateKnown: false)
    #expect(rig.send(.tick) == [.notice(notice)])
    rig.isWallTrusted = true
    #expect(rig.send(.tick, after: 60) == [.start(1)])
  }

  @Test("when bytes of an aborted test arrive late, or after the loop, then they count and are on the disk")
  func lateBytes() throws {
    var rig = try loop(day: 100)
    rig.send(.tick)
    rig.send(.pause)
    rig.send(.traffic(bytes: 60))
    #expect(rig.disk?.usage.usedInDay(at: rig.wall) == 60)
    rig.send(.stop)
    #expect(rig.send(.traffic(bytes: 50)).isEmpty)
    #expect(rig.disk?.usage.usedInDay(at: rig.wall) == 110)
    #expect(rig.disk?.stage == .ended(.user))
    let next = try loop(day: 100, usage: try #require(rig.disk?.usage))
    #expect(next.coordinator.memory.usage.usedInDay(at: rig.wall) == 110)
  }

  @Test("when the program restarts over and over during tests, then each one is charged, and the limit still holds")
  func restarts() throws {
    var rig = try loop(day: 250_000_000)
    rig.send(.tick)
    var starts = 1
    for _ in 0..<20 {
      starts += rig.restart(after: 300).filter { if case .startTest = $0 { true } else { false } }.count
    }
    #expect(starts == 3)
  }
}
