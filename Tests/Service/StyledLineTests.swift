import Coverage
import Testing

@testable import Service

/// Lines of the panel within a terminal's width.
struct StyledLineTests {
  private let line = StyledLine([.init("drive ", .plain), .init("12:31", .strong), .init(" lost", .loss)])

  @Test("when a line fits, then it is not cut")
  func fits() {
    #expect(line.count == 16)
    #expect(line.text(width: 16, isColoured: false) == "drive 12:31 lost")
    #expect(line.text(width: 200, isColoured: false) == "drive 12:31 lost")
  }

  @Test(
    "when a line is longer than the terminal is wide, then its last column is an ellipsis",
    arguments: [(15, "drive 12:31 lo…"), (12, "drive 12:31…"), (7, "drive …"), (2, "d…"), (1, "…"), (0, ""), (-3, "")])
  func cut(width: Int, expected: String) {
    #expect(line.text(width: width, isColoured: false) == expected)
  }

  @Test("when colours are on, then each part is reset to plain, even where the line is cut")
  func colours() {
    #expect(line.text(width: 16, isColoured: true) == "drive \u{1B}[1m12:31\u{1B}[0m\u{1B}[31m lost\u{1B}[0m")
    #expect(line.text(width: 9, isColoured: true) == "drive \u{1B}[1m12\u{1B}[0m…")
    // A part that is cut off completely leaves no style.
    #expect(line.text(width: 7, isColoured: true) == "drive …")
  }

  @Test("when parts are empty, then they leave no escape sequence")
  func emptyParts() {
    let line = StyledLine([.init("", .warning), .init("a", .soft), .init("", .delay)])
    #expect(line.text(width: 5, isColoured: true) == "\u{1B}[2ma\u{1B}[0m")
    #expect(StyledLine([]).text(width: 5, isColoured: true) == "")
  }

  @Test("when styles differ, then their parameters differ")
  func parameters() {
    let styles: [StyledLine.Style] = [.plain, .strong, .soft, .warning, .delay, .loss]
    #expect(Set(styles.map { $0.parameters ?? "" }).count == styles.count)
    #expect(StyledLine.Style.plain.parameters == nil)
  }

  /// The line of a service's only drive.
  private func link(_ drive: String) throws -> PanelLink {
    try #require(try PanelState(service: #"{"state":"recording","reason":"","drives":[{\#(drive)}]}"#).links.first)
  }

  @Test("when a modem reports several levels, then the panel has that of the newest technology, with the operator")
  func levels() throws {
    let all = [(SignalQuantity.nrRSRP, "-101"), (.rsrp, "-91.5"), (.rscp, "-70"), (.rssi, "-60.4")]
    for (removed, expected) in ["-101 dBm", "-92 dBm", "-70 dBm", "-60 dBm"].enumerated() {
      let levels = all.dropFirst(removed).map { #""\#($0.0.rawValue)":\#($0.1)"# }.joined(separator: ",")
      let radio = try link(#""radio":{"operator_name":"Network","signal":{\#(levels)}}"#).radio
      #expect(radio?.hasSuffix(expected + " Network") == true, "\(radio ?? "none")")
    }
    #expect(try link(#""radio":{"operator_name":"Network"}"#).radio == "Network")
    #expect(try link(#""radio":{}"#).radio == nil)
  }

  @Test("when some figures of a fence are unknown, then the panel omits them; more answers than pings are no loss")
  func fenceWords() throws {
    #expect(
      try link(#""open_fence":{"radius_m":20.4,"pings":40,"pings_ok":39,"p50_ping_ms":30.04,"p95_ping_ms":40.5}"#).fence
        == "this fence: 20 m, 40 pings, 1 lost, median 30.0 ms, 95 % 40.5 ms")
    #expect(try link(#""open_fence":{"pings":1,"pings_ok":2}"#).fence == "this fence: 1 ping, 0 lost")
    #expect(
      try link(#""open_fence":{"pings":\#(Int.min),"pings_ok":\#(Int.max)}"#).fence?.hasSuffix("0 lost") == true)
  }
}
