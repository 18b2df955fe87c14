import Testing

@testable import Service

/// Which messages the service manager gets, and when: a sign of life only while everything makes progress.
struct ManagerMessagesTests {
  private let start = SuspendingClock.now

  private func messages(watchdog: Duration? = .seconds(60)) -> ManagerMessages {
    ManagerMessages(watchdog: watchdog, senderPatience: .seconds(1800))
  }

  private func state(
    _ words: String = "idle: paused", drive: Int64? = nil, links: [String: Int64] = [:], sender: UInt64? = nil,
    isStopping: Bool = false
  ) -> ManagerMessages.State {
    .init(
      isReady: true, isStopping: isStopping, words: words, driveProgress: drive.map { ["": $0] } ?? links,
      senderSteps: sender)
  }

  @Test("when the service becomes ready, then READY, the status text and a first sign of life are sent once")
  func ready() {
    var messages = messages()
    #expect(messages.next(.init(words: "idle: starting"), at: start) == ["STATUS=idle: starting"])
    let first = messages.next(state(), at: start + .seconds(1))
    #expect(first == ["READY=1", "STATUS=idle: paused", "WATCHDOG=1"])
    #expect(messages.next(state(), at: start + .seconds(2)) == [])
  }

  @Test("when every part makes progress, then a sign of life is sent at each quarter of the limit")
  func signs() {
    var messages = messages()
    let at = (0..<60).filter { second in
      messages.next(state(drive: Int64(second), sender: UInt64(second)), at: start + .seconds(second))
        .contains("WATCHDOG=1")
    }
    #expect(at == [0, 15, 30, 45])
  }

  @Test(
    "when the drive's reports stop, then the signs of life stop within half of the limit, and return with the reports")
  func driveStalls() {
    var messages = messages()
    var at: [Int] = []
    for second in 0..<200 {
      let reports = Int64(second < 20 ? second : second < 150 ? 20 : second)
      if messages.next(state(drive: reports), at: start + .seconds(second)).contains("WATCHDOG=1") { at.append(second) }
      #expect((messages.stall == "the drive") == (50..<150).contains(second), "second \(second)")
    }
    #expect(at == [0, 15, 30, 45, 150, 165, 180, 195])
  }

  @Test("when the sender stays at one step, then the signs of life stop at its own, longer limit")
  func senderStalls() {
    var messages = messages()
    _ = messages.next(state(sender: 7), at: start)
    #expect(messages.next(state(sender: 7), at: start + .seconds(1799)).contains("WATCHDOG=1"))
    #expect(messages.stall == nil)
    #expect(!messages.next(state(sender: 7), at: start + .seconds(1830)).contains("WATCHDOG=1"))
    #expect(messages.stall == "the sender")
    #expect(messages.next(state(sender: 8), at: start + .seconds(1831)).contains("WATCHDOG=1"))
    #expect(messages.stall == nil)
  }

  @Test("when a part is idle, then its idle time counts as no stall")
  func idleParts() {
    var messages = messages()
    _ = messages.next(state(drive: 3, sender: 7), at: start)
    #expect(messages.next(state(), at: start + .seconds(3600)).contains("WATCHDOG=1"))
    #expect(messages.next(state(drive: 3, sender: 7), at: start + .seconds(7200)).contains("WATCHDOG=1"))
    #expect(messages.stall == nil)
  }

  @Test("when there is no watchdog, then no sign of life is sent")
  func noWatchdog() {
    var messages = messages(watchdog: nil)
    #expect(messages.next(state(drive: 1), at: start) == ["READY=1", "STATUS=idle: paused"])
    #expect(messages.next(state(drive: 1), at: start + .seconds(3600)) == [])
  }

  @Test("when the status text changes often, then it is sent at most every five seconds, and the last one is sent")
  func words() {
    var messages = messages(watchdog: nil)
    var seen: [String] = []
    for second in 0..<13 {
      let words = second < 7 ? "\(second)" : "last\nline"
      seen += messages.next(state(words), at: start + .seconds(second)).map { "\(second) \($0)" }
    }
    #expect(seen == ["0 READY=1", "0 STATUS=0", "5 STATUS=5", "10 STATUS=last line"])
  }

  @Test("when the configuration is read again, then RELOADING has the time, and READY follows")
  func reload() {
    var messages = messages(watchdog: nil)
    _ = messages.next(state(), at: start)
    #expect(messages.reloading(at: 12_345_678) == ["RELOADING=1", "MONOTONIC_USEC=12345678"])
    #expect(messages.next(state(), at: start + .seconds(1)) == ["READY=1"])
    #expect(messages.next(state(), at: start + .seconds(2)) == [])
  }

  @Test("when the service stops, then STOPPING is sent once")
  func stopping() {
    var messages = messages(watchdog: nil)
    _ = messages.next(state(), at: start)
    let last = messages.next(state("stopping: paused", isStopping: true), at: start + .seconds(1))
    #expect(last == ["STOPPING=1", "STATUS=stopping: paused"])
    #expect(messages.next(state("stopping: paused", isStopping: true), at: start + .seconds(2)) == [])
  }

  @Test("when a message was lost, then the next one repeats everything")
  func lost() {
    var messages = messages()
    let first = messages.next(state(), at: start)
    messages.lost()
    #expect(messages.next(state(), at: start + .seconds(1)) == first)
  }

  @Test("when the limit is malformed or for another process, then there is no watchdog")
  func limit() {
    func limit(_ environment: [String: String]) -> Duration? {
      ManagerMessages.watchdog(environment: environment, process: 42)
    }
    #expect(limit(["WATCHDOG_USEC": "60000000"]) == .seconds(60))
    #expect(limit(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "42"]) == .seconds(60))
    #expect(limit(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "41"]) == nil)
    for text in ["", "0", "-1", "x", "9223372036854775808"] {
      #expect(limit(["WATCHDOG_USEC": text]) == nil, "\(text)")
    }
    #expect(limit([:]) == nil)
  }

  @Test("when one link of several makes no progress, then there is no sign of life, and the stall names the link")
  func oneLink() {
    var messages = messages()
    _ = messages.next(state(links: ["A": 0, "B": 0]), at: start)
    for second in 1...29 {
      _ = messages.next(state(links: ["A": Int64(second), "B": 0]), at: start + .seconds(second))
    }
    #expect(messages.stall == nil)
    #expect(messages.next(state(links: ["A": 30, "B": 0]), at: start + .seconds(30)) == [])
    #expect(messages.stall == "the drive on link B")
    let signs = (31...90).flatMap { messages.next(state(links: ["A": Int64($0), "B": 0]), at: start + .seconds($0)) }
    #expect(signs.isEmpty)
    #expect(messages.next(state(links: ["A": 91, "B": 1]), at: start + .seconds(91)) == ["WATCHDOG=1"])
  }

  @Test("when the drive on one link has ended, then only the other link has to make progress")
  func endedLink() {
    var messages = messages()
    _ = messages.next(state(links: ["A": 0, "B": 0]), at: start)
    let signs = (1...120).flatMap { messages.next(state(links: ["A": Int64($0)]), at: start + .seconds($0)) }
    #expect(messages.stall == nil && signs.count == 8)
  }
}
