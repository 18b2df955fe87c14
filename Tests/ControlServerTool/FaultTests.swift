import Testing

@testable import control_server

@Suite struct FaultTests {
  @Test(
    arguments: [
      ("coverageResult:429:3", Fault.status(429), 3), ("coverageResult:reset", .reset, nil),
      ("*:hang:20", .hang(20), nil), ("*:hang:20:2", .hang(20), 2), ("settings:slow:0.5", .slow(0.5), nil),
      ("settings:429-retry-after:120:1", .retryAfter(status: 429, "120"), 1),
      (
        "settings:503-retry-after:Wed, 21 Oct 2026 07:28:00 GMT",
        .retryAfter(status: 503, "Wed, 21 Oct 2026 07:28:00 GMT"), nil
      ),
      ("*:redirect:http://portal.test/login", .redirect("http://portal.test/login"), nil),
      ("ip:drop-answer:1", .dropAnswer, 1), ("ip:stored:409:1", .stored(status: 409), 1), ("ip:late:2:1", .late(2), 1),
      ("ip:empty-if:a:b", .emptyIf("a:b"), nil),
    ] as [(String, Fault, Int?)])
  func flags(text: String, fault: Fault, count: Int?) {
    let planned = PlannedFault(flag: text)
    #expect(planned?.fault == fault)
    #expect(planned?.count == count)
  }

  @Test(arguments: [
    "", "settings", "settings:", "settings:200", "settings:600", "settings:hang", "settings:hang:-1", "a:b", "ip:late",
    "ip:empty-if:", "ip:redirect", "ip:503-retry-after",
  ])
  func badFlags(text: String) {
    #expect(PlannedFault(flag: text) == nil)
  }

  @Test func goInOrderAndRunOut() async {
    let plan = FaultPlan([
      .init(path: "ip", fault: .status(503), count: 2), .init(path: "ip", fault: .none, count: 1),
      .init(path: "*", fault: .empty),
    ])
    #expect(await plan.next(for: "settings") == .empty)
    #expect(await plan.next(for: "ip") == .status(503))
    #expect(await plan.next(for: "ip") == .status(503))
    #expect(await plan.next(for: "ip") == .none)
    #expect(await plan.next(for: "ip") == .empty)
    await plan.clear(path: "*")
    #expect(await plan.next(for: "ip") == .none)
    #expect(await plan.planned.isEmpty)
  }
}
