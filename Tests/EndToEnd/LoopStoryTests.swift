import Foundation
import TestSupport
import Testing

/// Ten tests of a loop along a drive, with every interruption that a device can meet in the field.
struct LoopStoryTests {
  /// m; the distance of 16 s, in which a test ends even on a busy machine.
  private static let distance = 800.0

  private func service(_ field: Field, _ clock: String) throws -> RunningProgram {
    try .product(
      "coverage-probe", ["agent", "--config", field.configuration],
      environment: ["LD_PRELOAD": clock, "ASLEEP": field.folder.file("asleep")])
  }

  /// Stops the process for at least `time`, even on a busy machine.
  private func hold(_ service: RunningProgram, _ time: Duration, _ meanwhile: () throws -> Void = {}) async throws {
    service.signal(SIGSTOP)
    let until = ContinuousClock.now + time
    _ = try await eventually("\(time) without the process") { ContinuousClock.now >= until ? true : nil }
    try meanwhile()
    service.signal(SIGCONT)
  }

  private func wait(_ what: String, _ number: Int, _ condition: (Int) async throws -> Bool?) async throws {
    _ = try await eventually(within: .seconds(180), "test \(number) \(what)") { try await condition(number) }
  }

  @Test(
    """
    when a loop of ten tests is paused, stopped, suspended, killed while it waits and killed while it tests, and the server fails twice, \
    then the server has ten tests, each once, and each wait counts from the start of the test before
    """, .enabled(if: SettableClock.isPossible, "needs a C compiler"))
  func tenTests() async throws {
    let tools = try TemporaryFolder()
    let clock = try await SettableClock.library(in: tools)
    let field = try await Field.moving(
      """
      agent: { record: always, loop: with-drive }
      loop: { count: 10, distance: \(Int(Self.distance)), every: null }
      """)
    _ = try field.folder.write("0", to: "asleep")
    let first = try service(field, clock)

    try await wait("ends", 1, field.hasEnded)
    #expect(try await field.run("pause").status == 0)
    _ = try await eventually("the second test is due") {
      try await field.run("status").output.contains("1 of 10 made, paused, the next one is due") ? true : nil
    }
    #expect(try await field.speedTests().count == 1, "no test starts while the loop is paused")
    #expect(try await field.run("resume").status == 0)
    try await wait("ends", 2, field.hasEnded)

    try await wait("measures", 3, field.isMeasuring)
    try await hold(first, .seconds(4))
    try await wait("ends", 3, field.hasEnded)

    try await wait("measures", 4, field.isMeasuring)
    // Too short to count as a stop: only the clocks show the suspend.
    try await hold(first, .milliseconds(2100)) { _ = try field.folder.write("2", to: "asleep") }
    try await wait("ends", 4, field.hasEnded)

    try await wait("ends", 5, field.hasEnded)
    first.signal(SIGKILL)
    _ = try await first.exitStatus()
    let second = try service(field, clock)

    try await wait("measures", 7, field.isMeasuring)
    second.signal(SIGKILL)
    _ = try await second.exitStatus()
    let third = try service(field, clock)

    try await wait("measures", 8, field.isMeasuring)
    try await field.server.setFault("500", on: "result", count: 2)
    try await wait("ends", 10, field.hasEnded)
    _ = try await eventually(within: .seconds(180), "all ten are submitted") {
      if third.isRunning { _ = try await field.run("submit") }
      return try await field.speedTests().filter { $0["state"] as? String == "submitted" }.count == 10 ? true : nil
    }
    third.signal(SIGTERM)
    #expect(try await third.exitStatus() == 0, "\(third.standardError)")

    let tests = try await field.speedTests()
    #expect(tests.map { $0["test_counter"] as? Int } == Array(1...10))
    // A machine that is too busy makes the program stand still for seconds, which must abort the test of that moment.
    let starved = tests.indices.filter { (tests[$0]["error"] as? String)?.contains("stood still") == true }.map {
      $0 + 1
    }
    #expect(starved.contains(3) && starved.count <= 3, "\(tests)")
    let aborted = Set([3, 4, 7] + starved)
    let outcomes = (1...10).map { aborted.contains($0) ? "aborted" : "completed" }
    #expect(tests.map { $0["outcome"] as? String } == outcomes)
    #expect((tests[3]["error"] as? String)?.contains("suspended") == true, "\(tests[3])")
    let held = try await field.server.speedTests()
    #expect(held.map { $0["state"] as? String } == outcomes.map { $0 == "aborted" ? "ABORTED" : "FINISHED" })
    #expect(held.map { $0["results_accepted"] as? Int } == outcomes.map { $0 == "aborted" ? 0 : 1 })
    #expect(Set(held.compactMap { $0["loop_uuid"] as? String }).count == 1)

    let latitudes = tests.compactMap { $0["latitude"] as? Double }
    try #require(latitudes.count == 10)
    let ways = zip(latitudes.dropFirst(), latitudes).map { ($0 - $1) * Field.metresPerDegree }
    // A wait counts from the decision to test, and a place is that of the server's grant, which a busy machine gives late.
    let total = ways.reduce(into: [0.0]) { $0.append(($0.last ?? 0) + $1) }
    #expect(total.enumerated().allSatisfy { $1 > (Double($0) - 0.4) * Self.distance }, "no test comes early: \(ways)")
    // A wait that restarted with the program would be longer by the distance of test 5, and one from the end of a test by that test's.
    #expect(ways[4] < Self.distance * 1.4, "the wait for test 6 continued across the kill: \(ways)")
    let fences = try await field.server.fences()
    #expect(!fences.isEmpty && Set(fences.map { $0.integer("timestamp_microseconds") }).count == fences.count)
  }
}
