import Testing

@testable import Service
@testable import coverage_probe

struct LineWidthTests {
  private let line = "00:12:31  48.20820 16.37380 ±2.8 m  117 fences  31.7 ms 0 % lost  4G/LTE"

  @Test("when a terminal is narrower than the line, then the line is cut, and leaves the last column free")
  func cut() {
    let cut = LineWidth.cut(line, to: 40)
    #expect(cut == "00:12:31  48.20820 16.37380 ±2.8 m  11…")
    #expect(cut.count == 39)
    #expect(LineWidth.cut(line, to: 1) == "" && LineWidth.cut(line, to: 0) == "" && LineWidth.cut(line, to: 2) == "…")
  }

  @Test("when a terminal is wide enough, or its width is unknown, then the line is not cut", arguments: [nil, 73, 200])
  func fits(columns: Int?) {
    #expect(line.count == 72)
    #expect(LineWidth.cut(line, to: columns) == line)
  }

  @Test("when a line is coloured, then only visible characters count")
  func colours() {
    #expect(LineWidth.columns("\u{1B}[1;33m! x\u{1B}[0m y") == 5)
    #expect(LineWidth.columns("▁▂×") == 3 && LineWidth.columns("") == 0)
  }

  @Test(
    "when a terminal became narrower, then its lines take more rows; an empty line takes one",
    arguments: [
      ([80, 20], 80, 2), ([80, 20], 40, 3), ([81], 80, 2), ([0, 0], 10, 2), ([], 80, 0), ([5], 0, 1), ([9], 1, 9),
    ])
  func rows(lines: [Int], columns: Int, rows: Int) {
    #expect(LineWidth.rows(of: lines, columns: columns) == rows)
    #expect(LineWidth.rows(of: lines, columns: nil) == lines.count)
  }

  @Test("when rows are removed, then the cursor goes up to the first of them, and everything below is erased")
  func clearing() {
    #expect(LineWidth.clearing(rows: 1) == "\r\u{1B}[J" && LineWidth.clearing(rows: 3) == "\r\u{1B}[2A\u{1B}[J")
  }
}
