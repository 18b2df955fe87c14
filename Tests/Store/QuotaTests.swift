import TestSupport
import Testing

@testable import Store

/// Which data a quota deletes, decided on figures alone.
struct QuotaTests {
  private let quota = Quota(bytes: 1000, fences: 100)

  /// Ten bytes a fence.
  private func holdings(fences: Int, submitted: Int, logs: [Int64] = [], other: Int64 = 0) -> Holdings {
    var holdings = Holdings()
    (holdings.store, holdings.fences, holdings.submitted) = (Int64(fences) * 10, fences, submitted)
    holdings.files = logs.enumerated().map { Holdings.File(path: "\($0.offset)", bytes: $0.element) }
    holdings.other = other
    return holdings
  }

  private func decide(_ holdings: Holdings) -> (fences: Int, logs: Int, bytesOver: Int64, fencesOver: Int) {
    let plan = QuotaPlan(holdings, quota: quota)
    #expect(plan.files == Array(holdings.files.prefix(plan.files.count)), "the oldest first")
    return (plan.fences, plan.files.count, plan.bytesOver, plan.fencesOver)
  }

  @Test("when all is within the quota, to the last byte and fence, then nothing is deleted")
  func within() {
    #expect(decide(holdings(fences: 90, submitted: 90, logs: [50], other: 50)) == (0, 0, 0, 0))
    #expect(decide(holdings(fences: 100, submitted: 100)) == (0, 0, 0, 0))
    #expect(decide(holdings(fences: 0, submitted: 0)) == (0, 0, 0, 0))
  }

  @Test("when there are too many bytes, then submitted fences go first, and logs only when no submitted fence is left")
  func bytes() {
    #expect(decide(holdings(fences: 50, submitted: 20, logs: [600])) == (10, 0, 0, 0))
    #expect(decide(holdings(fences: 50, submitted: 20, other: 501)) == (1, 0, 0, 0), "not a byte too few")
    #expect(decide(holdings(fences: 50, submitted: 20, logs: [700])) == (20, 0, 0, 0))
    #expect(decide(holdings(fences: 50, submitted: 20, logs: [1, 1, 699])) == (20, 1, 0, 0))
    #expect(decide(holdings(fences: 50, submitted: 20, logs: [100, 400, 600])) == (20, 2, 0, 0))
  }

  @Test(
    "when there are too many bytes, then submitted speed tests go first, no more than needed, and do not count as fences"
  )
  func speedTests() {
    func plan(_ sizes: [Int64], _ fences: Int, submitted: Int) -> QuotaPlan {
      var holdings = holdings(fences: fences, submitted: submitted)
      holdings.speedTests = sizes.enumerated().map { .init(id: Int64($0.offset) + 1, bytes: $0.element) }
      holdings.store += sizes.reduce(0, +)
      return QuotaPlan(holdings, quota: quota)
    }
    #expect(plan([300, 300, 300], 50, submitted: 50).speedTests == [1, 2])
    #expect(plan([300, 300, 300], 50, submitted: 50).fences == 0)
    #expect(plan([300, 200], 50, submitted: 50).speedTests.isEmpty)
    let both = plan([500], 80, submitted: 80)
    #expect(both.speedTests == [1] && both.fences == 0)
    let more = plan([50], 100, submitted: 90)
    #expect(more.speedTests == [1] && more.fences == 0 && more.bytesOver == 0)
    let rest = plan([50], 110, submitted: 90)
    #expect(rest.speedTests == [1] && rest.fences == 10 && rest.bytesOver == 0)
  }

  @Test("when there are too many fences, then submitted ones go, and no logs")
  func fences() {
    let quota = Quota(bytes: 1 << 30, fences: 100)
    let plan = QuotaPlan(holdings(fences: 130, submitted: 80, logs: [10]), quota: quota)
    #expect((plan.fences, plan.files.count, plan.fencesOver) == (30, 0, 0))
  }

  @Test("when only unsent fences are left, then they stay, and the plan reports the excess")
  func unsent() {
    #expect(decide(holdings(fences: 130, submitted: 0)) == (0, 0, 300, 30))
    #expect(decide(holdings(fences: 130, submitted: 10, logs: [50])) == (10, 1, 200, 20))
    #expect(decide(holdings(fences: 0, submitted: 0, other: 1001)) == (0, 0, 1, 0))
  }

  @Test("when the holdings are random, then the plan deletes enough or all that it may, and no more than needed")
  func always() {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<2000 {
      let fences = Int.random(in: 0...200, using: &generator)
      let held = holdings(
        fences: fences, submitted: Int.random(in: 0...fences, using: &generator),
        logs: (0..<Int.random(in: 0...5, using: &generator)).map { _ in Int64.random(in: 1...400, using: &generator) },
        other: Int64.random(in: 0...600, using: &generator))
      let plan = QuotaPlan(held, quota: quota)
      let freed = Int64(plan.fences) * 10 + plan.files.reduce(0) { $0 + $1.bytes }
      let isAllGone = plan.fences == held.submitted && plan.files == held.files
      #expect(held.bytes - freed <= quota.bytes || isAllGone && plan.bytesOver == held.bytes - freed - quota.bytes)
      #expect(held.fences - plan.fences <= quota.fences || plan.fences == held.submitted)
      #expect(plan.files.isEmpty || plan.fences == held.submitted, "logs before fences")
      if let last = plan.files.last { #expect(held.bytes - freed + last.bytes > quota.bytes, "a log too many") }
      if plan.fences > 0 {
        let isFenceNeeded = held.bytes - freed + 10 > quota.bytes || held.fences - plan.fences + 1 > quota.fences
        #expect(isFenceNeeded || !plan.files.isEmpty, "a fence too many")
      }
    }
  }
}
