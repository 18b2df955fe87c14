import Testing

@testable import coverage_probe

/// Progress of long work: when a line is due, and its words.
struct WorkProgressTests {
  /// The milliseconds at which lines are due when the work asks each 10 ms.
  private func dues(isTerminal: Bool, until end: Int) -> [Int] {
    var pace = ProgressPace(isTerminal: isTerminal)
    return stride(from: 0, through: end, by: 10).filter { pace.isDue(at: .milliseconds($0)) }
  }

  @Test("when standard error is a terminal, then a line is due after half a second, and then at most 5 a second")
  func terminal() {
    #expect(dues(isTerminal: true, until: 1500) == [500, 700, 900, 1100, 1300, 1500])
    #expect(dues(isTerminal: true, until: 490) == [])
  }

  @Test("when standard error is no terminal, then a line is due each 10 s, and none in shorter work")
  func file() {
    #expect(dues(isTerminal: false, until: 35_000) == [10_000, 20_000, 30_000])
    #expect(dues(isTerminal: false, until: 9_990) == [])
  }

  @Test("when work asks seldom, then late lines do not come in a burst")
  func late() {
    var pace = ProgressPace(isTerminal: false)
    #expect(!pace.hasShown)
    #expect(pace.isDue(at: .seconds(95)) && !pace.isDue(at: .seconds(96)) && pace.isDue(at: .seconds(105)))
    #expect(pace.hasShown)
  }

  @Test("when a total is known, then the line has it with the share; else the number alone")
  func words() {
    #expect(ProgressPace.line("export", 12_000, of: "fence", total: 48_000) == "export: 12000 of 48000 fences (25 %)")
    #expect(ProgressPace.line("export", 1, of: "fence", total: nil) == "export: 1 fence")
    #expect(ProgressPace.line("export", 0, of: "fence", total: 0) == "export: 0 fences")
    #expect(ProgressPace.line("export", 51, of: "fence", total: 50) == "export: 51 fences", "the drive goes on")
    #expect(ProgressPace.line("replay", 999, of: "fence", total: 1000) == "replay: 999 of 1000 fences (99 %)")
  }

  @Test("when bytes are counted, then the line has megabytes")
  func bytes() {
    #expect(ProgressPace.line("replay", 12_345_678, of: "byte", total: 50_000_000) == "replay: 12.3 of 50.0 MB (24 %)")
    #expect(ProgressPace.amount(.max, of: "byte") == "9223372036854.7 MB")
    #expect(ProgressPace.amount(-1, of: "byte") == "0.0 MB")
  }
}
