import SystemServices
import Testing

/// The lines that count of a program's output.
struct LineRateTests {
  private var rate = LineRate()
  private let now = ContinuousClock.now

  private mutating func take(_ text: String, after milliseconds: Int64 = 0) -> [String] {
    rate.take(Array(text.utf8), at: now + .milliseconds(milliseconds))
  }

  @Test("when lines come slowly, in any pieces, then all count at once")
  mutating func slow() {
    #expect(take("4G/").isEmpty)
    #expect(take("LTE\r\n5G/NR\n\nno") == ["4G/LTE", "5G/NR", ""])
    #expect(take("ne\n") == ["none"])
    #expect(rate.dropped == 0 && rate.nextRead == nil && rate.unfinished == nil)
    #expect(take("last").isEmpty)
    #expect(rate.unfinished == "last")
  }

  @Test(
    "when a read has more lines than the second allows, then its last ones count, and the program is read in the next second"
  )
  mutating func flood() {
    let lines = (1...1000).map { "\($0)" }
    #expect(take("partial").isEmpty)
    #expect(take(lines.joined(separator: "\n") + "\nrest") == Array(lines.suffix(LineRate.linesPerSecond)))
    #expect(rate.dropped == 1000 - LineRate.linesPerSecond)
    #expect(rate.nextRead == now + .seconds(1))
    #expect(take(" of it\n", after: 1000) == ["rest of it"])
    #expect(rate.dropped == 0 && rate.nextRead == nil)
  }

  @Test("when the lines of a second come one by one, then the last one that counts is the tenth")
  mutating func single() {
    for number in 1...LineRate.linesPerSecond {
      #expect(rate.nextRead == nil)
      #expect(take("\(number)\n", after: Int64(number)) == ["\(number)"])
    }
    #expect(rate.nextRead == now + .milliseconds(1001))
    #expect(take("a\nb\n", after: 500) == ["b"], "a reader that does not wait")
  }

  @Test("when a line has no end, then its beginning counts, memory is bounded, and bytes have a rate, too")
  mutating func endless() {
    let part = String(repeating: "x", count: 40_000)
    #expect(take(part).isEmpty)
    #expect(rate.nextRead == nil)
    #expect(take(part).isEmpty)
    #expect(rate.nextRead == now + .seconds(1))
    #expect(rate.unfinished?.count == LineRate.longestLine)
    #expect(take("\n4G/LTE\n", after: 1000).last == "4G/LTE")
  }
}
