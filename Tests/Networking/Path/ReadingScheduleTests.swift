import TestSupport
import Testing

@testable import Networking

struct ReadingScheduleTests {
  private let origin = ContinuousClock.now
  private func at(_ milliseconds: Int) -> ContinuousClock.Instant { origin + .milliseconds(milliseconds) }
  private func schedule() -> ReadingSchedule { ReadingSchedule(fallback: .seconds(10), startingAt: origin) }

  @Test("when nothing changes, then the network is read at once, and every ten seconds")
  func quiet() {
    var schedule = schedule()
    let due = [0, 9999, 10_000, 10_001].map { schedule.isDue(at: at($0)) }
    #expect(due == [true, false, true, false])
  }

  @Test("when several changes come in a row, then one reading follows, shortly after the last")
  func burst() {
    var schedule = schedule()
    _ = schedule.isDue(at: at(0))
    for time in [1000, 1020, 1060] { schedule.changed(at: at(time)) }
    let due = [1109, 1110, 1111].map { schedule.isDue(at: at($0)) }
    #expect(due == [false, true, false])
    #expect(schedule.next == at(11_110))
  }

  @Test("when changes never stop, then readings are a quarter of a second apart")
  func storm() {
    var schedule = schedule()
    let readings = stride(from: 0, to: 10_000, by: 10).filter { time in
      schedule.changed(at: at(time))
      return schedule.isDue(at: at(time))
    }
    #expect(readings.count == 38)
    #expect(zip(readings, readings.dropFirst()).allSatisfy { $1 - $0 == 260 })
  }

  @Test("when changes come at random, then a reading follows each within 250 ms, and no reading comes without a cause")
  func random() {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    var schedule = schedule()
    var unseen: Int?
    var lastReading: Int?
    var (causeless, longestWait) = (0, 0)
    for time in 0..<60_000 {
      if Int.random(in: 0..<100, using: &generator) == 0 {
        schedule.changed(at: at(time))
        unseen = unseen ?? time
      }
      if schedule.isDue(at: at(time)) {
        if unseen == nil, let lastReading, time - lastReading != 10_000 { causeless += 1 }
        (unseen, lastReading) = (nil, time)
      }
      if let unseen { longestWait = max(longestWait, time - unseen) }
    }
    #expect(causeless == 0)
    #expect((50..<250).contains(longestWait))
  }
}
