import Coverage
import Foundation
import TestSupport
import Testing

@testable import Service
@testable import SpeedTest

@Suite struct LoopStatusTests {
  private func moment(_ seconds: Int) -> LoopMoment {
    LoopMoment(
      boot: .seconds(100 + seconds), awake: .seconds(100 + seconds), wall: .sampleStart.adding(.seconds(seconds)))
  }

  @Test("when a loop runs, then its status has its state and counts its tests by outcome")
  func states() throws {
    let rules = try LoopRules(count: 2, every: .seconds(900), distance: nil)
    var loop = LoopCoordinator(rules, bootID: "B", at: moment(0))
    func line() -> String { LoopStatus(loop.memory, of: rules.count).line }
    #expect(line() == "speed tests: 0 of 2 made, the next one is due; 0 completed, 0 failed, 0 aborted")
    _ = loop.handle(.tick, at: moment(1))
    #expect(line() == "speed tests: test 1 of 2 is running; 0 completed, 0 failed, 0 aborted")
    _ = loop.handle(.testEnded(number: 1, hasResult: false), at: moment(20))
    #expect(line() == "speed tests: 1 of 2 made, the next one is not due yet; 0 completed, 1 failed, 0 aborted")
    _ = loop.handle(.pause, at: moment(30))
    #expect(LoopStatus(loop.memory, of: 2).state == .paused)
    #expect(line().hasPrefix("speed tests: 1 of 2 made, paused;"))
    _ = loop.handle(.tick, at: moment(901))
    #expect(line().hasPrefix("speed tests: 1 of 2 made, paused, the next one is due;"))
    _ = loop.handle(.resume, at: moment(901))
    _ = loop.handle(.testEnded(number: 2, hasResult: true), at: moment(920))
    #expect(line() == "speed tests: 2 of 2 made, over; 1 completed, 1 failed, 0 aborted")
    let json = LoopStatus(loop.memory, of: 2).json.text
    let counts = #""made":2,"of":2,"completed":1,"failed":1,"aborted":0"#
    #expect(json == #"{"state":"ended","due":false,\#(counts),"line":"\#(line())"}"#)
  }

  @Test("when the service has a loop, or speed tests wait, then its status has a line for each")
  func lines() throws {
    let rules = try LoopRules(count: 3, every: .seconds(900), distance: nil)
    let loop = LoopCoordinator(rules, bootID: "B", at: moment(0))
    var status = ServiceStatus(started: .sampleStart)
    #expect(!status.lines.contains { $0.contains("speed test") })
    status.loop = LoopStatus(loop.memory, of: 3)
    status.waiting.speedTests = 2
    #expect(status.lines.contains { $0.hasPrefix("speed tests: 0 of 3 made") })
    #expect(status.lines.contains("2 speed tests wait to be sent"))
    #expect(status.json.text.contains(#""loop":{"state":"due""#))
  }
}
