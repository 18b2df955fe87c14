import Testing

@testable import Pinging

/// The times at which a name is resolved again, on a clock that only the test moves.
final class NameWatchTests {
  private let second: UInt64 = 1_000_000_000
  private let old: PingAddress
  private let new: PingAddress
  private let six: PingAddress
  private var watch: NameWatch

  init() throws {
    old = try #require(PingAddress(numeric: "192.0.2.1", port: 444))
    new = try #require(PingAddress(numeric: "192.0.2.2", port: 444))
    six = try #require(PingAddress(numeric: "2001:db8::1", port: 444))
    watch = NameWatch(address: old, at: 0)
  }

  private func wantsLookUp(at now: UInt64) -> Bool { watch.wantsLookUp(at: now) }
  private func found(_ addresses: [PingAddress], at now: UInt64) -> PingAddress? { watch.found(addresses, at: now) }

  @Test("when a target was silent for 30 s, then its name is looked up, by one look-up at a time")
  func silence() {
    #expect(!wantsLookUp(at: 30 * second - 1))
    #expect(wantsLookUp(at: 30 * second))
    #expect(!wantsLookUp(at: 90 * second))
  }

  @Test("when a target answers now and then, then its name is not looked up")
  func answers() {
    for moment in 1...10 {
      #expect(!wantsLookUp(at: UInt64(moment) * 29 * second))
      watch.heard(at: UInt64(moment) * 29 * second)
    }
  }

  @Test("when the name has another address, then pings go there, and the next look-up waits for 30 s of silence there")
  func moved() {
    #expect(wantsLookUp(at: 30 * second))
    #expect(found([six, new], at: 31 * second) == new)
    #expect(watch.address == new)
    #expect(!wantsLookUp(at: 60 * second))
    #expect(wantsLookUp(at: 61 * second))
  }

  @Test("when the name still has the address, then the target keeps it, even if there are others")
  func unchanged() {
    #expect(wantsLookUp(at: 30 * second))
    #expect(found([new, old], at: 30 * second) == nil)
    #expect(watch.address == old)
  }

  @Test("when the name has addresses of the other family only, then the target stays where it is")
  func otherFamily() {
    #expect(wantsLookUp(at: 30 * second))
    #expect(found([six], at: 30 * second) == nil)
  }

  @Test("when an answer comes that this watch has not asked for, then the target stays where it is")
  func foreign() {
    #expect(found([new], at: 5 * second) == nil && watch.address == old)
  }

  @Test("when a look-up fails, then the next one comes 30 s later")
  func failure() {
    #expect(wantsLookUp(at: 30 * second))
    watch.failed(at: 50 * second)
    #expect(!wantsLookUp(at: 79 * second))
    #expect(wantsLookUp(at: 80 * second))
  }

  @Test("when the target answers while its name is looked up, then it stays where it is")
  func answersMeanwhile() {
    #expect(wantsLookUp(at: 30 * second))
    watch.heard(at: 31 * second)
    #expect(found([new], at: 35 * second) == nil)
    #expect(!wantsLookUp(at: 60 * second))
    #expect(wantsLookUp(at: 61 * second))
  }
}
