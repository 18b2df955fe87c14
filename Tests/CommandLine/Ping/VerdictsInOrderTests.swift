import Glibc
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// Verdicts in the order of sending, however late losses are known.
struct VerdictsInOrderTests {
  private static let answered = PingEvent.Kind.answered(rttNanoseconds: 20_000_000)

  /// The numbers that each event settles; a loss has a minus, a refusal is 1000 higher.
  private func settled(_ events: [(PingEvent.Kind, UInt64)]) -> [[Int]] {
    var order = VerdictsInOrder()
    return events.map { kind, number in
      order.add(.sample(kind, number: number)).map { verdict in
        switch verdict.reply {
        case .inTime: Int(verdict.number)
        case .refusal: Int(verdict.number) + 1000
        case .none: -Int(verdict.number)
        }
      }
    }
  }

  @Test("when answers come in order, then each settles at once")
  func inOrder() {
    #expect(settled([(Self.answered, 0), (Self.answered, 1), (Self.answered, 2)]) == [[0], [1], [2]])
  }

  @Test("when a ping is lost, then the answers behind it wait for its timeout, and then settle in order")
  func waitForLoss() {
    #expect(
      settled([(Self.answered, 0), (Self.answered, 3), (Self.answered, 2), (.lost(.unknown), 1), (Self.answered, 4)])
        == [[0], [], [], [-1, 2, 3], [4]])
  }

  @Test(
    "when a ping has no answer of any kind, then its verdict is the same",
    arguments: [
      PingEvent.Kind.lost(.up), .lost(.down), .icmpError(type: 3, code: 1), .notSent(SendFailure(code: ENETUNREACH)),
    ])
  func noAnswer(kind: PingEvent.Kind) {
    var order = VerdictsInOrder()
    let verdicts = order.add(.sample(kind, number: 0))
    #expect(verdicts.map(\.isAnswered) == [false])
  }

  @Test("when the token is refused, then the verdict is neither a loss nor an answer in time")
  func refusal() {
    #expect(settled([(.refused(rttNanoseconds: 5), 0)]) == [[1000]])
    var order = VerdictsInOrder()
    #expect(order.add(.sample(.refused(rttNanoseconds: 5), number: 0)).map(\.isAnswered) == [true])
  }

  @Test("when the host did not send pings, then those behind them do not wait for their verdicts")
  func missed() {
    #expect(
      settled([(Self.answered, 0), (Self.answered, 4), (.missed(count: 3), 1), (Self.answered, 5)])
        == [[0], [], [4], [5]])
    #expect(settled([(.missed(count: 1), 0), (Self.answered, 1)]) == [[], [1]])
  }

  @Test("when a ping is cancelled, then it alone is skipped")
  func cancelled() {
    #expect(settled([(.cancelled, 0), (Self.answered, 2), (Self.answered, 1)]) == [[], [], [1, 2]])
  }

  @Test(
    "when a reply follows a verdict, or an event concerns the whole target, then nothing settles",
    arguments: [
      PingEvent.Kind.late(rttNanoseconds: 5), .duplicate, .corrupt, .finished, .removed, .overflow(count: 3),
    ])
  func noVerdicts(kind: PingEvent.Kind) {
    #expect(settled([(kind, 0), (Self.answered, 0)]) == [[], [0]])
  }

  @Test("when a second verdict comes for a settled ping, then it is not counted")
  func second() {
    #expect(settled([(Self.answered, 0), (.lost(.unknown), 0), (Self.answered, 1)]) == [[0], [], [1]])
  }

  @Test("when a verdict never comes, then the others wait until the patience is used up, and then settle in order")
  func patience() {
    var order = VerdictsInOrder()
    var settled: [UInt64] = []
    for number in 2...UInt64(VerdictsInOrder.patience + 1) {
      settled += order.add(.sample(Self.answered, number: number)).map(\.number)
    }
    #expect(settled.isEmpty)
    settled += order.add(.sample(Self.answered, number: UInt64(VerdictsInOrder.patience) + 2)).map(\.number)
    #expect(settled == Array(2...UInt64(VerdictsInOrder.patience) + 2))
    // The verdicts of the skipped pings come too late.
    let late = order.add(.sample(.lost(.unknown), number: 1)).count
    #expect(late == 0)
  }

  @Test("when unsent pings lie before a gap, then they skip no ping behind the gap")
  func skippedBeforeTheGap() {
    var order = VerdictsInOrder()
    // The event of 0 is missing; 1 to 5 were not sent; the verdicts from 7 on come.
    #expect(order.add(.sample(.missed(count: 5), number: 1)).isEmpty)
    var settled: [UInt64] = []
    for number in 7...UInt64(VerdictsInOrder.patience + 7) {
      settled += order.add(.sample(Self.answered, number: number)).map(\.number)
    }
    #expect(settled.first == 7 && settled.count == VerdictsInOrder.patience + 1)
  }

  @Test("when an event has its slot and delays in each direction, then the verdict has them too")
  func values() {
    var order = VerdictsInOrder()
    let oneWay = PingEvent.OneWay(upNanoseconds: 5, downNanoseconds: 6)
    _ = order.add(.sample(Self.answered, number: 0))
    let verdict = order.add(.sample(Self.answered, number: 1, oneWay: oneWay)).first
    #expect(verdict?.slot == 100_000_000)
    guard case .inTime(let rtt, let delays) = verdict?.reply else {
      Issue.record("no answer in time")
      return
    }
    #expect(rtt == 20_000_000 && delays == oneWay)
  }
}
