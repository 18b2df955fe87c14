import TestSupport
import Testing

@testable import Driving
@testable import Pinging

struct DriveInboxTests {
  private let inbox = DriveInbox()
  /// The calls from the inbox.
  private let wakeups = Counter()

  @Test("when signals are put in, then they are taken once, in their order")
  func order() {
    inbox.put(.tick)
    inbox.put(.pingsDue)
    inbox.put(.input(.stop))
    #expect(inbox.drain().map { "\($0.signal)" } == ["tick", "pingsDue", "input(Driving.DriveInput.stop)"])
    #expect(inbox.drain().isEmpty)
  }

  @Test(
    "when a drive was held up, then a signal is handled after the pings that were over before it, and before later ones"
  )
  func dated() {
    inbox.put(.tick)
    let boots = inbox.drain().map(\.boot)
    #expect(boots.allSatisfy { $0 > 0 && $0 <= Pinger.now })
    var waiting = WaitingVerdicts()
    waiting.add(
      [1, 2, 5].map { PingEvent(target: 1, kind: .cancelled, number: 0, sequence: 0, slot: 0, sent: nil, occurred: $0) }
    )
    waiting.add([PingEvent(target: 1, kind: .cancelled, number: 0, sequence: 0, slot: 0, sent: nil, occurred: 9)])
    #expect(waiting.take(until: 0).isEmpty)
    #expect(waiting.take(until: 2).map(\.occurred) == [1, 2] && waiting.take(until: 4).isEmpty)
    #expect(waiting.take(until: .max).map(\.occurred) == [5, 9] && waiting.take(until: .max).isEmpty)
  }

  @Test(
    "when a batch has the signals of seconds, then answers come last and now, and decisions follow the last signal alone"
  )
  func batch() {
    let steps = BatchStep.all(of: [
      (.tick, 1), (.input(.unresolved(reason: "", for: 1)), 2), (.pingsDue, 3), (.input(.stop), 4),
    ])
    #expect(steps.map(\.boot) == [1, 3, 4, nil] && steps.map(\.isLast) == [false, false, false, true])
    #expect(BatchStep.all(of: [(.tick, 7)]).map(\.isLast) == [true] && BatchStep.all(of: []).isEmpty)
  }

  @Test("when several signals come before the reader takes them, then it is woken once, and again after that")
  func wakesOnce() {
    inbox.open { [wakeups] in wakeups.increment() }
    for _ in 0..<5 { inbox.put(.tick) }
    #expect(wakeups.count == 1)
    #expect(inbox.drain().count == 5)
    inbox.put(.tick)
    #expect(wakeups.count == 2)
  }

  @Test("when signals came before the inbox was opened, then opening wakes the reader; without any it does not")
  func early() {
    let empty = DriveInbox()
    empty.open { [wakeups] in wakeups.increment() }
    #expect(wakeups.count == 0)
    inbox.put(.tick)
    inbox.open { [wakeups] in wakeups.increment() }
    #expect(wakeups.count == 1)
  }

  @Test("when the inbox is closed, then it is empty, and it refuses later signals")
  func closed() {
    inbox.open { [wakeups] in wakeups.increment() }
    let wasTaken = inbox.put(.tick)
    inbox.close()
    #expect(wasTaken)
    #expect(inbox.drain().isEmpty)
    #expect(!inbox.put(.tick))
    #expect(wakeups.count == 1)
  }

  @Test("when many threads put signals in while one takes them, then each signal arrives once")
  func manyThreads() async {
    let (woken, wake) = AsyncStream<Void>.makeStream()
    inbox.open { wake.yield() }
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { [inbox] in for _ in 0..<500 { inbox.put(.tick) } }
      }
      var count = 0
      for await _ in woken {
        count += inbox.drain().count
        if count == 4000 { break }
      }
      #expect(count == 4000)
    }
    #expect(inbox.drain().isEmpty)
  }
}
