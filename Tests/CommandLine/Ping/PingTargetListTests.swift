import Testing

@testable import Service
@testable import coverage_probe

/// Targets from a file.
struct PingTargetListTests {
  private func read(_ text: String) -> (names: [String], problems: [String]) {
    let list = PingTargetList(text, file: "list")
    return (list.names, list.problems.map(\.description))
  }

  @Test(
    "when a line has spaces, a comment or nothing, then only its target counts",
    arguments: [
      ("a.b\nnext\n", ["a.b", "next"]), ("  fe80::1%eth0 \t# here\r\nnext", ["fe80::1%eth0", "next"]),
      ("a#b", ["a"]), ("\n\nnext", ["next"]), (" # a b\nnext", ["next"]), ("#", []), ("", []),
      ("same\nsame", ["same", "same"]),
    ] as [(String, [String])])
  func names(text: String, expected: [String]) {
    let list = read(text)
    #expect(list.names == expected)
    #expect(list.problems == [])
  }

  @Test("when a line is no target, then it is reported with its number, and the other lines count")
  func problems() {
    let long = String(repeating: "x", count: 1001)
    let list = read("127.0.0.1\n\n\(long)\na b # two\na\u{0}b\n  127.0.0.2 # the last")
    #expect(list.names == ["127.0.0.1", "127.0.0.2"])
    #expect(
      list.problems == [
        "list:3: the line is longer than 1000 bytes", "list:4: the line has more than one target",
        "list:5: the line contains a zero byte",
      ])
  }

  @Test("when a line has 1000 bytes, then it is not too long")
  func longest() {
    let name = String(repeating: "x", count: 1000)
    #expect(read(name).names == [name])
    #expect(read(name + "x").names == [])
  }
}
