import Testing

@testable import Positioning

@Suite struct LineSplitterTests {
  private func lines(_ chunks: [String]) -> [String] {
    var splitter = LineSplitter()
    return chunks.flatMap { splitter.push($0.utf8) }.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func whenLinesEndInLFOrCRLF_thenBothEndsAreTakenOff() {
    #expect(lines(["a\r\nb\n\r\n\nc\n"]) == ["a", "b", "c"])
  }

  @Test func whenTheLastLineHasNoEnd_thenItIsNotALineYet() {
    #expect(lines(["a\nb"]) == ["a"])
  }

  @Test(arguments: 1...12) func whenTheStreamIsBrokenUpAnywhere_thenTheLinesAreTheSame(size: Int) {
    let text = Array("{\"a\":1}\r\n{\"b\":\"x\\ny\"}\r\n\r\nlast\n")
    let chunks = stride(from: 0, to: text.count, by: size).map { String(text[$0..<min($0 + size, text.count)]) }
    #expect(lines(chunks) == ["{\"a\":1}", "{\"b\":\"x\\ny\"}", "last"])
  }

  @Test func whenALineHasTheGreatestLength_thenItIsKeptWithEitherEnd() {
    let longest = String(repeating: "x", count: LineSplitter.maximumLength)
    #expect(lines([longest + "\n", longest + "\r\n"]) == [longest, longest])
  }

  @Test(arguments: [1, 2, 100_000])
  func whenALineIsTooLong_thenItIsDiscardedToItsEndAndCounted(excess: Int) {
    var splitter = LineSplitter()
    let tooLong = String(repeating: "x", count: LineSplitter.maximumLength + excess)
    let lines = splitter.push("before\n\(tooLong)\nafter\n".utf8).map { String(decoding: $0, as: UTF8.self) }
    #expect(lines == ["before", "after"])
    #expect(splitter.overlongLines == 1)
  }
}
