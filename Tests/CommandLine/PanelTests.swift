import Coverage
import Foundation
import TestSupport
import Testing

@testable import Driving
@testable import Service
@testable import coverage_probe

/// The live panel of `record` and `status --watch`.
struct PanelTests {
  private func second(_ pings: Int, _ answered: Int, _ milliseconds: Double? = 30) -> PanelSecond {
    var second = PanelSecond()
    (second.pings, second.answered, second.milliseconds) = (pings, answered, answered > 0 ? milliseconds : nil)
    return second
  }

  private func link(_ name: String? = nil, _ change: (inout PanelLink) -> Void = { _ in }) -> PanelLink {
    var link = PanelLink()
    (link.name, link.technology, link.fences, link.second) = (name, "4G/LTE", 17, second(10, 10, 31.7))
    change(&link)
    return link
  }

  private func panel(_ change: (inout PanelState) -> Void, seconds: Int = 1) -> Panel {
    var (state, panel) = (PanelState(), Panel())
    (state.elapsed, state.position) = ("00:12:31", "48.20820 16.37380 ±4 m")
    change(&state)
    for _ in 0..<seconds { panel.update(state) }
    return panel
  }

  // MARK: Lines

  @Test("when a drive measures, then the panel has its time, position, technology, delay, loss, fences and seconds")
  func measuring() {
    let panel = panel({ $0.links = [link { $0.fence = "this fence: 19 m, 17 pings, 0 lost" }] }, seconds: 5)
    #expect(
      panel.lines(columns: 80, isColoured: false) == [
        "00:12:31  48.20820 16.37380 ±4 m", "31.7 ms  0 % lost  4G/LTE  17 fences  ▃▃▃▃▃",
        "   this fence: 19 m, 17 pings, 0 lost",
      ])
  }

  @Test("when nothing is known, then the panel says that there is no drive")
  func nothing() { #expect(Panel().lines(columns: 80, isColoured: false) == ["no drive"]) }

  @Test("when there are several links, then each has its line and its seconds, and warnings name their link")
  func links() {
    let panel = panel({ state in
      state.links = [link("A"), link("B") { ($0.second, $0.warnings) = (PanelSecond(), ["waiting for a test"]) }]
      (state.warnings, state.queue) = (
        ["disk: full"], ["waiting to be sent: 3 fences in 1 session; 0 fences quarantined"]
      )
    })
    #expect(
      panel.lines(columns: 100, isColoured: false) == [
        "00:12:31  48.20820 16.37380 ±4 m", "31.7 ms  0 % lost  A: 4G/LTE  17 fences  ▃",
        "no pings  B: 4G/LTE  17 fences   ", "! disk: full", "! B: waiting for a test",
        "waiting to be sent: 3 fences in 1 session; 0 fences quarantined",
      ])
  }

  @Test("when a terminal has 40 columns, then delay and loss come before all else, also of a link with a long name")
  func narrow() {
    let panel = panel({ state in
      state.activity = "recording: moving"
      state.links = [
        link("the link on the roof") { ($0.fence, $0.radio) = ("this fence: 19 m", "rsrp -91 dBm Example Mobil") },
        link("B") { $0.second = second(10, 8) },
      ]
    })
    #expect(
      panel.lines(columns: 40, isColoured: false) == [
        "31.7 ms  0 % lost  the link on the roo…", "30.0 ms  20 % lost  B: 4G/LTE  17 fenc…",
        "recording: moving  00:12:31  48.20820 …", "   this fence: 19 m",
      ])
    #expect(panel.lines(columns: 40, rows: 2, isColoured: false) == ["31.7 ms  0 % lost  the link on the roo…"])
  }

  @Test("when a terminal is narrow or wide, then no line reaches its last column or breaks", arguments: 1...200)
  func widths(columns: Int) {
    let panel = panel(
      { state in
        state.activity = "recording: moving"
        state.links = [link("a long name") { $0.warnings = [String(repeating: "trouble ", count: 30)] }, link("B")]
        state.queue = ["waiting to be sent: 1 fence"]
      }, seconds: 250)
    for isColoured in [false, true] {
      let lines = panel.lines(columns: columns, isColoured: isColoured)
      #expect(lines.allSatisfy { LineWidth.columns($0) < columns && !$0.contains("\n") }, "\(lines)")
    }
    let isWide = columns > 60
    #expect(
      panel.lines(columns: columns, isColoured: false)[columns > 60 ? 1 : 0].contains("▃▃▃▃▃▃▃▃") == isWide
        || (50...60).contains(columns))
  }

  @Test(
    "when a terminal is low, then the last lines are left out, and a row stays free",
    arguments: [(3, 2), (1, 1), (2, 1), (50, 4)])
  func rows(rows: Int, shown: Int) {
    let panel = panel({ $0.links = [link("A"), link("B"), link("C")] })
    #expect(panel.lines(columns: 80, rows: rows, isColoured: false).count == shown)
  }

  @Test("when texts from outside have control characters, then none reaches the terminal")
  func hostile() {
    let panel = panel({ state in
      state.position = "\u{1B}[2J"
      state.links = [link("\r\u{7}A") { ($0.technology, $0.warnings) = ("\u{9B}x\n", ["\u{202E}rtl"]) }]
    })
    let text = panel.lines(columns: 80, isColoured: false).joined()
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E })
  }

  @Test("when colours are off, then there is no escape sequence; with colours, the words are the same")
  func colours() {
    let panel = panel({ $0.links = [link { ($0.second, $0.warnings) = (second(10, 9), ["x"]) }] }, seconds: 3)
    let plain = panel.lines(columns: 60, isColoured: false)
    let coloured = panel.lines(columns: 60, isColoured: true)
    #expect(!plain.joined().contains("\u{1B}"))
    #expect(coloured.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") } == plain)
    #expect(coloured[0].contains("\u{1B}[31m  10 % lost\u{1B}[0m") && coloured[2].hasPrefix("\u{1B}[1;33m! x"))
  }

  @Test("when a link is removed, then its seconds are dropped; another link's stay")
  func gone() {
    var (panel, both, one) = (Panel(), PanelState(), PanelState())
    (both.links, one.links) = ([link("A"), link("B")], [link("B")])
    for state in [both, both, one, both] { panel.update(state) }
    let lines = panel.lines(columns: 100, isColoured: false)
    #expect(lines[1].filter { $0 == "▃" }.count == 1 && lines[2].filter { $0 == "▃" }.count == 4)
  }

  @Test("when output is no terminal, then the state is one line without bars")
  func line() {
    var state = PanelState()
    (state.activity, state.elapsed) = ("recording: moving", "00:00:05")
    (state.links, state.warnings) = ([link("A"), link("B")], ["disk: full"])
    #expect(
      Panel.line(state)
        == "recording: moving  00:00:05  31.7 ms  0 % lost  A: 4G/LTE  17 fences  31.7 ms  0 % lost  B: 4G/LTE  17 fences  ! disk: full"
    )
  }

  // MARK: Seconds

  @Test(
    "when the mean delay of a second doubles, from 15 ms on, then its bar is one step higher",
    arguments: [
      (0, "▁"), (14.9, "▁"), (15, "▂"), (29.9, "▂"), (30, "▃"), (60, "▄"), (120, "▅"), (240, "▆"), (480, "▇"),
      (959, "▇"),
      (960, "█"), (60_000, "█"), (.infinity, "×"), (.nan, "×"), (-1, "▁"),
    ] as [(Double, String)])
  func bars(milliseconds: Double, bar: String) {
    #expect(Sparkline.runs([second(10, 10, milliseconds)], width: 5) == [.init(text: bar, isLoss: false)])
  }

  @Test("when a second lost pings, then it is shown as loss; without answers it is a cross, without pings a blank")
  func losses() {
    let seconds = [second(10, 10), second(10, 9), second(10, 0), second(0, 0), second(10, 10)]
    #expect(
      Sparkline.runs(seconds, width: 9) == [
        .init(text: "▃", isLoss: false), .init(text: "▃×", isLoss: true), .init(text: " ▃", isLoss: false),
      ])
    #expect(Sparkline.runs(seconds, width: 2) == [.init(text: " ▃", isLoss: false)])
    #expect(Sparkline.runs(seconds, width: 0).isEmpty && Sparkline.runs(seconds, width: -3).isEmpty)
  }

  @Test("when a drive is long, then seconds that fit on no terminal are dropped")
  func long() {
    var trail = DelayTrail()
    for number in 0..<1000 { trail.add(second(number, number)) }
    #expect(trail.seconds.count == DelayTrail.longest && trail.seconds.last?.pings == 999)
  }

  // MARK: States

  private func drive() -> DriveStatus {
    var drive = DriveStatus()
    (drive.elapsed, drive.fences, drive.isAccurate, drive.link) = (.seconds(751), 17, true, "A")
    drive.fix = Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738), accuracy: 4.2)
    drive.technology = Technology("4G/LTE")
    drive.radio = RadioReading(technology: Technology("4G/LTE"), modem: .sample)
    drive.warnings = ["waiting for a test"]
    var figures = PingFigures()
    figures.roundTrip = .init(minimum: 1_000_000, median: 30_000_000, percentile95: 40_500_000, maximum: 50_000_000)
    drive.openFence = .sample(lasted: nil, figures: figures)
    for rtt in [30_000_000, 33_400_000] as [Int64] { drive.lastSecond.count(.answered(rttNanoseconds: rtt)) }
    drive.lastSecond.count(.failed(.timeout))
    return drive
  }

  @Test("when a drive of this process is shown, then every value of its status is on the panel")
  func ofDrive() throws {
    let state = PanelState([drive()])
    let link = try #require(state.links.first)
    #expect(state.elapsed == "00:12:31" && state.position == "48.20820 16.37380 ±4.2 m")
    #expect(link.name == "A" && link.technology == "4G/LTE" && link.fences == 17)
    #expect(
      link.radio == "rsrp -92 dBm A \"Network\"" || link.radio == "rsrp -91 dBm A \"Network\"", "\(link.radio ?? "")")
    #expect(link.second.pings == 3 && link.second.answered == 2 && link.second.milliseconds == 31.7)
    #expect(link.fence == "this fence: 20 m, 40 pings, 1 lost, median 30.0 ms, 95 % 40.5 ms")
    #expect(link.warnings == ["waiting for a test"] && state.warnings.isEmpty)
    #expect(PanelState([]) == PanelState())
  }

  @Test("when the panel reads a service's status, then it has the same links as from the drive itself")
  func ofService() throws {
    var status = ServiceStatus(started: .sampleStart)
    (status.state, status.reason, status.links) = (.recording, "moving", [drive()])
    status.waiting.fences = 3
    status.disk.trouble = "no space left"
    let state = try PanelState(service: status.json.text)
    let own = PanelState([drive()])
    #expect(state.links == own.links && state.elapsed == own.elapsed && state.position == own.position)
    #expect(state.activity == "recording: moving" && state.warnings == ["disk: no space left"])
    #expect(state.queue == ["waiting to be sent: 3 fences in 0 sessions; 0 fences quarantined"])
  }

  @Test("when an answer is no status, then reading it fails; members that a status lacks stay empty")
  func otherAnswers() throws {
    for text in ["", "[]", "{}", "not found", #"{"state":1,"reason":"","drives":[]}"#] {
      #expect(throws: DecodingError.self, "\(text)") { try PanelState(service: text) }
    }
    let bare = try PanelState(service: #"{"state":"idle","reason":"x","drives":[{}],"clock_set":false}"#)
    #expect(bare.links == [PanelLink()] && bare.warnings.count == 1 && bare.elapsed == nil)
  }

  @Test("when the service's disk is full, then the panel has the same line as status")
  func serviceDisk() throws {
    var status = ServiceStatus(started: .sampleStart)
    status.disk = .init(freeBytes: 1023 << 10, unsavedFences: 2)
    let line = try #require(status.disk.line)
    #expect(line.contains("is full") && line.contains("2 fences in memory only") && line.contains("1023 KiB free"))
    #expect(try PanelState(service: status.json.text).warnings.contains(line))
  }

  @Test("when the disk refuses fences, then the panel warns about them")
  func disk() {
    var status = drive()
    (status.diskTrouble, status.unsavedFences) = ("database or disk is full", 2)
    #expect(PanelState([status]).warnings == ["disk: database or disk is full; 2 fences in memory only"])
  }
}
