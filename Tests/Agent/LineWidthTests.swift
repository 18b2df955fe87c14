import Testing

@testable import Agent

struct LineWidthTests {
  private let line = "00:12:31  48.20820 16.37380 ±2.8 m  117 fences  31.7 ms 0 % lost  4G/LTE"

  @Test("when a terminal is narrower than the line, then the line is cut, and leaves the last column free")
  func cut() {
    let cut = LineWidth.cut(line, to: 40)
    #expect(cut == "00:12:31  48.20820 16.37380 ±2.8 m  11…")
    #expect(cut.count == 39)
    #expect(LineWidth.cut(line, to: 1) == "" && LineWidth.cut(line, to: 0) == "" && LineWidth.cut(line, to: 2) == "…")
  }

  @Test("when a terminal is wide enough, or does not say how wide, then the line stays", arguments: [nil, 73, 200])
  func fits(columns: Int?) {
    #expect(line.count == 72)
    #expect(LineWidth.cut(line, to: columns) == line)
  }
}
