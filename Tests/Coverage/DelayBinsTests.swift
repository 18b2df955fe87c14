import Testing

@testable import Coverage

/// Delays of pings in bins.
@Suite struct DelayBinsTests {
  private func bins(_ microseconds: Int64...) -> String {
    var bins = DelayBins()
    for delay in microseconds { bins.add(nanoseconds: delay * 1000) }
    return bins.description
  }

  @Test func `when delays are below 128 µs, then each has its bin, and above, each octave has 64`() {
    #expect(bins(0, 127) == "0=1 127=1")
    #expect(bins(128, 129, 130) == "128=2 129=1")
    #expect(bins(255, 256, 259, 260) == "191=1 192=2 193=1")
  }

  @Test func `when any delay is counted, then the lower bound of its bin is at most a 64th below it`() {
    for power in 0..<36 {
      for delay: Int64 in [1 << power, 1 << power + 1, (1 << power) * 3 / 2, 1 << (power + 1) - 1] {
        let bin = Int64(DelayBins.number(nanoseconds: delay * 1000))
        let lower = bin < 128 ? bin : (bin - 64 * (bin / 64 - 1)) << (bin / 64 - 1)
        #expect(lower <= delay && (delay - lower) * 64 <= delay, "\(delay) µs in \(bin)")
      }
    }
  }

  @Test func `when half a microsecond is counted, then it is rounded up, and no number from outside traps`() {
    #expect(DelayBins.number(nanoseconds: 1499) == 1 && DelayBins.number(nanoseconds: 1500) == 2)
    #expect(DelayBins.number(nanoseconds: -5) == 0)
    #expect(DelayBins.number(nanoseconds: .max) == DelayBins.number(nanoseconds: .max - 1000))
  }

  @Test func `when a delay is taken back, then its bin is as before`() {
    var bins = DelayBins()
    for delay: Int64 in [5000, 5000, 9000] { bins.add(nanoseconds: delay) }
    bins.remove(nanoseconds: 5000)
    bins.remove(nanoseconds: 9000)
    bins.remove(nanoseconds: 9000)
    #expect(bins.description == "5=1")
  }

  @Test(arguments: ["1=0", "2=1 1=1", "1=1 1=1", "1", "70000=1", "a=b", "1=-1"])
  func `when a text is none that bins give, then there are none`(text: String) {
    #expect(DelayBins(text) == nil)
  }

  @Test func `when bins are read from their text, then they are the same`() {
    #expect(DelayBins("640=3 1410=17")?.description == "640=3 1410=17")
    #expect(DelayBins("")?.isEmpty == true)
  }
}
