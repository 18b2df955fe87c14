import Settings
import Testing

@testable import Agent

struct RecordingWishTests {
  private let start = ContinuousClock.now

  private func wish(_ rule: RecordingRule) -> RecordingWish {
    RecordingWish(rules: .init(rule: rule, startSpeed: 2, rest: .seconds(60), patience: .seconds(1800)))
  }

  private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test("when the rule is always, then a drive is wanted until a command says otherwise")
  func always() {
    var wish = wish(.always)
    #expect(wish.wantsDrive(at: start))
    wish.take(.stop)
    #expect(!wish.wantsDrive(at: start))
    wish.take(.resume)
    #expect(wish.wantsDrive(at: start))
  }

  @Test("when the rule is command, then a drive lasts from start to stop")
  func command() {
    var wish = wish(.command)
    #expect(!wish.wantsDrive(at: start))
    wish.take(.start)
    #expect(wish.wantsDrive(at: start))
    wish.take(.stop)
    #expect(!wish.wantsDrive(at: start))
  }

  @Test("when a pause ends, then all is as before it", arguments: RecordingRule.allCases)
  func pause(rule: RecordingRule) {
    for order in [ServiceCommand?.none, .start, .stop] {
      var wish = wish(rule)
      if let order { wish.take(order) }
      let before = wish.wantsDrive(at: start)
      wish.take(.pause)
      #expect(!wish.wantsDrive(at: start))
      wish.take(.pause)
      wish.take(.resume)
      #expect(wish.wantsDrive(at: start) == before)
    }
  }

  @Test("when the device moves and rests, then the drive begins with the third fast fix and ends after the rest")
  func moving() {
    var wish = wish(.moving)
    for second in 0..<2 { wish.take(speed: 9, at: after(second)) }
    #expect(!wish.wantsDrive(at: after(2)))
    wish.take(speed: 9, at: after(2))
    #expect(wish.wantsDrive(at: after(2)))
    for second in 3..<62 { wish.take(speed: 0.4, at: after(second)) }
    #expect(wish.wantsDrive(at: after(62)))
    #expect(!wish.wantsDrive(at: after(63)))
  }

  @Test("when a standing receiver shows a speed now and then, then no drive begins")
  func jitter() {
    var wish = wish(.moving)
    for second in 0..<100 {
      wish.take(speed: second % 3 == 2 ? 0 : 5, at: after(second))
      #expect(!wish.wantsDrive(at: after(second)))
    }
  }

  @Test("when one fast fix comes during a rest, then the rest begins anew")
  func creeping() {
    var wish = wish(.moving)
    for second in 0..<3 { wish.take(speed: 9, at: after(second)) }
    for second in 3..<50 { wish.take(speed: 0.4, at: after(second)) }
    wish.take(speed: 3, at: after(50))
    wish.take(speed: 0.4, at: after(51))
    #expect(wish.wantsDrive(at: after(110)))
    #expect(!wish.wantsDrive(at: after(111)))
  }

  @Test("when the position is lost while moving, then the drive goes on, unless for longer than the patience")
  func lost() {
    var wish = wish(.moving)
    for second in 0..<3 { wish.take(speed: 9, at: after(second)) }
    wish.take(speed: nil, at: after(30))
    #expect(wish.wantsDrive(at: after(1801)))
    #expect(!wish.wantsDrive(at: after(1802)))
    wish.take(speed: 9, at: after(1900))
    #expect(!wish.wantsDrive(at: after(1900)), "it takes three fast positions again")
  }
}
