import TestSupport
import Testing

@testable import SpeedTest
@testable import measurement_server

/// The client and the server compute a call's statistics with separate code: they must agree.
@Suite struct RTPAgreementTests {
  @Test(
    "When calls with loss, reordering, repeated packets, stalls and wrapping numbers are computed by both, then all ten figures agree"
  )
  func agreement() throws {
    var generator = SeededGenerator(seed: 40)
    for _ in 0..<300 {
      let first = UInt16.random(in: 0 ... .max, using: &generator)
      let order = try #require(QoSCall.Order([5060, 0, 8000, 8, 20, 2000, Int(first), 8, 100_000_000]))
      let call = QoSCall(order, source: 1)
      var time: Int64 = 5
      var arrivals: [RTPArrival] = []
      var numbers = (0..<100).filter { _ in Int.random(in: 0..<10, using: &generator) > 0 }
      for _ in 0..<3 where numbers.count > 2 {
        let index = Int.random(in: 1..<numbers.count, using: &generator)
        numbers.swapAt(index, index - 1)
      }
      for _ in 0..<3 {
        numbers.insert(
          numbers.randomElement(using: &generator) ?? 0, at: .random(in: 0...numbers.count, using: &generator))
      }
      for number in numbers {
        time += .random(
          in: 0...(Int.random(in: 0..<20, using: &generator) == 0 ? 300_000_000 : 40_000_000), using: &generator)
        _ = call.receive(call.packet(number), at: time)
        arrivals.append(
          RTPArrival(
            sequence: first &+ UInt16(number), timestamp: UInt32(number * 160), time: time))
      }
      let ours = RTPStatistics(firstSequence: first, sampleRate: 8000, buffer: 100_000_000).figures(arrivals)
      #expect(RTPFigures(reply: call.result) == ours)
    }
  }
}
