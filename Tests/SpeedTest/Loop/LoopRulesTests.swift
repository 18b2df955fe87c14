import Coverage
import Testing

@testable import SpeedTest

/// The ranges of both reference apps, and the line for each wrong value.
@Suite struct LoopRulesTests {
  private func fault(
    count: Int = 50, every: Duration? = .seconds(900), distance: Double? = 250, duration: Duration = .seconds(3600)
  ) -> String? {
    do throws(LoopFault) {
      _ = try LoopRules(count: count, every: every, distance: distance, duration: duration)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("when nothing is set, then the rules are those of the apps: 50 tests, 15 minutes, 250 m, 48 hours")
  func defaults() throws {
    let rules = try LoopRules()
    #expect(rules.count == 50 && rules.every == .seconds(900) && rules.distance == 250)
    #expect(rules.duration == .seconds(172_800) && rules.afterRestart == .resume && rules.data == .none)
  }

  @Test("when a value is at an end of its range, then it is accepted")
  func ends() {
    #expect(fault(count: 1) == nil && fault(count: 500) == nil)
    #expect(fault(every: .seconds(300)) == nil && fault(every: .seconds(86_400)) == nil)
    #expect(fault(distance: 25) == nil && fault(distance: 10_000) == nil)
    #expect(fault(duration: .nanoseconds(1)) == nil && fault(duration: .seconds(172_800)) == nil)
  }

  @Test("when a value is outside of its range, then the line has the value and the range")
  func outside() {
    #expect(fault(count: 0) == "the loop has 0 tests: set 1 to 500")
    #expect(fault(count: 501) == "the loop has 501 tests: set 1 to 500")
    #expect(fault(count: .min) != nil)
    #expect(fault(every: .seconds(299)) == "the loop waits 299.0 s between tests: set 5 to 1440 minutes")
    #expect(fault(every: .seconds(86_401)) != nil)
    #expect(fault(every: .seconds(-1)) != nil)
    #expect(fault(distance: 24.9) == "the loop's distance is 24.9 m: set 25 to 10000 m")
    #expect(fault(distance: 10_000.1) != nil)
    for odd in [Double.nan, .infinity, -.infinity, -250] { #expect(fault(distance: odd) != nil) }
    #expect(fault(duration: .zero) == "the loop lasts 0.0 s: set more than 0 s, at most 48 hours")
    #expect(fault(duration: .seconds(172_801)) != nil)
  }

  @Test("when neither time nor distance counts, then only a loop of one test is accepted")
  func endless() {
    #expect(fault(count: 1, every: nil, distance: nil) == nil)
    #expect(
      fault(count: 2, every: nil, distance: nil)
        == "the loop has neither a waiting time nor a distance, so its second test never starts: set one")
    #expect(fault(count: 2, every: nil) == nil && fault(count: 2, distance: nil) == nil)
  }

  @Test("when a data limit permits no byte, then the line says so")
  func data() throws {
    let day = #expect(throws: LoopFault.self) { try DataLimits(day: 0, month: 5) }
    #expect(day?.description == "the data limit of a day is 0 bytes: set at least 1 byte, or leave it out for no limit")
    let month = #expect(throws: LoopFault.self) { try DataLimits(day: 5, month: -1) }
    #expect(month?.description.hasPrefix("the data limit of a month is -1 bytes") == true)
    #expect(try DataLimits(day: 1, month: nil).day == 1)
  }
}
