import Synchronization
import Testing

@testable import Driving

struct DriveInboxTests {
  private let inbox = DriveInbox()
  private let wakeups = Wakeups()

  /// Counts the calls from the inbox.
  private final class Wakeups: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  @Test("when signals are put in, then they are taken once, in their order")
  func order() {
    inbox.put(.tick)
    inbox.put(.pingsDue)
    inbox.put(.input(.stop))
    #expect(inbox.drain().map { "\($0)" } == ["tick", "pingsDue", "input(Driving.DriveInput.stop)"])
    #expect(inbox.drain().isEmpty)
  }

  @Test("when several signals come before the reader takes them, then it is woken once, and again after that")
  func wakesOnce() {
    inbox.open { [wakeups] in wakeups.add() }
    for _ in 0..<5 { inbox.put(.tick) }
    #expect(wakeups.count == 1)
    #expect(inbox.drain().count == 5)
    inbox.put(.tick)
    #expect(wakeups.count == 2)
  }

  @Test("when signals came before it was opened, then opening wakes the reader; without any it does not")
  func early() {
    let empty = DriveInbox()
    empty.open { [wakeups] in wakeups.add() }
    #expect(wakeups.count == 0)
    inbox.put(.tick)
    inbox.open { [wakeups] in wakeups.add() }
    #expect(wakeups.count == 1)
  }

  @Test("when it is closed, then nothing is left, and what comes later is refused")
  func closed() {
    inbox.open { [wakeups] in wakeups.add() }
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
