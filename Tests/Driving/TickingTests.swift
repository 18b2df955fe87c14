import Pinging
import Testing

@testable import Driving

@Suite(.timeLimit(.minutes(5))) struct TickingTests {
  private static let period: UInt64 = 20_000_000

  @Test("when an action repeats, then it runs once in each whole multiple of the period, until its task is cancelled")
  func wholeMultiples() async {
    let (moments, continuation) = AsyncStream<UInt64>.makeStream()
    let beat = Task {
      await each(.nanoseconds(Self.period)) { continuation.yield(Pinger.now) }
      continuation.finish()
    }
    var periods: [UInt64] = []
    for await moment in moments {
      periods.append(moment / Self.period)
      if periods.count == 6 { beat.cancel() }
    }
    // A busy machine may skip some periods, or read them late, so that more than six come before the task is cancelled.
    #expect(zip(periods, periods.dropFirst()).allSatisfy { $0 < $1 })
    #expect(periods.count >= 6)
  }

  @Test("when the next run is far away, then a cancelled task returns at once")
  func cancelled() async {
    let (begun, continuation) = AsyncStream<Void>.makeStream()
    let beat = Task { await each(.seconds(86_400)) { continuation.yield() } }
    let idle = Task { await untilCancelled() }
    _ = await begun.first { true }
    beat.cancel()
    idle.cancel()
    await beat.value
    await idle.value
  }

  @Test("when a repeated action has ended, then it does not run any more, while others on the same thread go on")
  func afterTheEnd() async {
    let (deliveries, continuation) = AsyncStream<Bool>.makeStream()
    let ended = Task { await each(.nanoseconds(Self.period)) { continuation.yield(true) } }
    _ = await deliveries.first { $0 }
    ended.cancel()
    await ended.value
    continuation.yield(false)
    let other = Task { await each(.nanoseconds(Self.period)) { continuation.yield(false) } }
    var others = 0
    var late = 0
    var isAfterEnd = false
    for await isOfEnded in deliveries {
      if !isOfEnded { isAfterEnd = true }
      if isOfEnded && isAfterEnd { late += 1 }
      others += isOfEnded ? 0 : 1
      if others == 5 { break }
    }
    other.cancel()
    await other.value
    #expect(late == 0)
  }
}
