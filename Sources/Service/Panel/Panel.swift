import Coverage
import Driving

/// The live panel of `record` and `status --watch`: a few lines with the present state and the delays of the last seconds.
public struct Panel: Sendable {
  private var state = PanelState()
  /// The last seconds, by link; "" for the only link. A link that is no longer in the state loses them.
  private var trails: [String: DelayTrail] = [:]

  public init() {}

  /// Takes over the state of another second.
  public mutating func update(_ state: PanelState) {
    self.state = state
    let names = Set(state.links.map { $0.name ?? "" })
    trails = trails.filter { names.contains($0.key) }
    for link in state.links { trails[link.name ?? "", default: DelayTrail()].add(link.second) }
  }

  /// The panel for a terminal of this size. No line reaches the last column, and texts from outside are cleaned of control
  /// characters.
  /// - Parameters:
  ///   - columns: The width of the terminal; `nil`: unknown, taken for 80.
  ///   - rows: Its height; `nil`: unknown. One row stays free for other lines.
  public func lines(columns: Int?, rows: Int? = nil, isColoured: Bool) -> [String] {
    let width = max(0, (columns ?? 80) - 1)
    let rendered = styled(width: width).map { $0.text(width: width, isColoured: isColoured) }
    return Array(rendered.prefix(max(1, (rows ?? .max) - 1)))
  }

  /// The state in one line, for output that is no terminal.
  public static func line(_ state: PanelState) -> String {
    var panel = Panel()
    panel.update(state)
    let links = state.links.map { panel.line($0, width: 0).text(width: .max, isColoured: false).trimmed }
    return
      ([panel.head.text(width: .max, isColoured: false)] + links + state.warnings.map { "! " + ForeignText.clean($0) })
      .joined(separator: "  ")
  }

  /// On narrower terminals, delay and loss are above all else.
  private static let leastForHead = 60

  /// All lines, from the top; a low terminal cuts off the last ones.
  private func styled(width: Int) -> [StyledLine] {
    let links = state.links.map { link in
      (line: line(link, width: width), fence: link.fence.map { StyledLine([.init("   " + $0, .soft)]) })
    }
    var lines =
      width < Self.leastForHead
      ? links.map(\.line) + [head] + links.compactMap(\.fence)
      : [head] + links.flatMap { [$0.line] + [$0.fence].compactMap { $0 } }
    let warnings = state.warnings + state.links.flatMap { link in link.warnings.map { Self.prefix(link) + $0 } }
    lines += warnings.map { StyledLine([.init("! " + $0, .warning)]) }
    lines += state.queue.map { StyledLine([.init($0, .soft)]) }
    return lines
  }

  private var head: StyledLine {
    let parts = [state.activity, state.elapsed, state.position].compactMap { $0 }
    return StyledLine([.init(parts.isEmpty ? "no drive" : parts.joined(separator: "  "), .strong)])
  }

  /// Delay and loss first: a narrow terminal cuts off the end.
  /// - Parameter width: The columns of the line; the bars take those that the text leaves.
  private func line(_ link: PanelLink, width: Int) -> StyledLine {
    let loss = link.second.loss ?? 0
    let delay = link.second.milliseconds.map { "\(DecimalText.of($0, places: 1)) ms" } ?? "- ms"
    let lost = "\(DecimalText.of(loss * 100, places: loss > 0 && loss < 0.1 ? 1 : 0)) % lost"
    var parts: [StyledLine.Part] = [.init(link.second.pings > 0 ? delay : "no pings", .strong)]
    if link.second.pings > 0 { parts.append(.init("  \(lost)", loss > 0 ? .loss : .strong)) }
    let radio = [link.technology ?? "no technology", link.radio].compactMap { $0 }.joined(separator: " ")
    parts.append(.init("  \(Self.prefix(link))\(radio)  \(counted(link.fences, "fence"))  ", .plain))
    let free = width - StyledLine(parts).count
    // A row of a few bars says nothing.
    if free >= 8 {
      parts += Sparkline.runs(trails[link.name ?? ""]?.seconds ?? [], width: free).map {
        .init($0.text, $0.isLoss ? .loss : .delay)
      }
    }
    return StyledLine(parts)
  }

  private static func prefix(_ link: PanelLink) -> String { link.name.map { "\($0): " } ?? "" }
}

extension String {
  /// Without the blanks before a row of bars that is not there.
  fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }
}

/// The last seconds of one link, oldest first.
struct DelayTrail: Hashable, Sendable {
  /// More than the widest terminals show.
  static let longest = 300

  private(set) var seconds: [PanelSecond] = []

  /// Adds the newest second, and drops the oldest ones beyond ``longest``.
  mutating func add(_ second: PanelSecond) {
    seconds.append(second)
    if seconds.count > Self.longest { seconds.removeFirst(seconds.count - Self.longest) }
  }
}

/// The delays of the last seconds as a row of bars.
///
/// The scale is fixed, so that bars of different moments and links can be compared: the lowest bar is below 15 ms, and each
/// higher one has twice the limit, up to 960 ms. A second with pings and without an answer is `×`, one without pings a blank.
enum Sparkline {
  /// A part of the row that has one look.
  struct Run: Hashable, Sendable {
    var text: String
    var isLoss: Bool
  }

  private static let bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  /// The upper end of the lowest bar, in milliseconds.
  private static let lowest = 15.0

  /// The last `width` seconds, the newest at the right. A second with some pings lost is a bar that looks like loss.
  static func runs(_ seconds: [PanelSecond], width: Int) -> [Run] {
    seconds.suffix(max(0, width)).reduce(into: []) { runs, second in
      let isLoss = (second.loss ?? 0) > 0
      if let last = runs.indices.last, runs[last].isLoss == isLoss {
        runs[last].text += mark(second)
      } else {
        runs.append(Run(text: mark(second), isLoss: isLoss))
      }
    }
  }

  private static func mark(_ second: PanelSecond) -> String {
    guard second.pings > 0 else { return " " }
    guard second.answered > 0, let delay = second.milliseconds, delay.isFinite else { return "×" }
    var (limit, place) = (lowest, 0)
    while delay >= limit, place < bars.count - 1 { (limit, place) = (limit * 2, place + 1) }
    return bars[place]
  }
}

/// A line of the panel, in parts of different looks.
struct StyledLine: Hashable, Sendable {
  enum Style: Hashable, Sendable {
    case plain, strong, soft, warning, delay, loss

    /// The parameters of ECMA-48's SGR; of the 16 colours that every theme makes readable.
    var parameters: String? {
      switch self {
      case .plain: nil
      case .strong: "1"
      case .soft: "2"
      case .warning: "1;33"
      case .delay: "36"
      case .loss: "31"
      }
    }
  }

  /// A text with one look. Control characters, which could move the cursor, become spaces.
  struct Part: Hashable, Sendable {
    var text: String
    var style: Style

    init(_ text: String, _ style: Style) { (self.text, self.style) = (ForeignText.clean(text, limit: 1000), style) }
  }

  var parts: [Part]

  init(_ parts: [Part]) { self.parts = parts }

  /// The columns that it takes.
  var count: Int { parts.reduce(0) { $0 + TerminalColumns.count($1.text) } }

  /// The line with at most `width` columns; a longer one ends with `…`.
  func text(width: Int, isColoured: Bool) -> String {
    var (free, text) = (width, "")
    let isCut = count > width
    if isCut { free = max(0, width - 1) }
    for part in parts where free > 0 {
      let piece = TerminalColumns.prefix(part.text, free)
      free -= TerminalColumns.count(piece)
      if isColoured, let parameters = part.style.parameters, !piece.isEmpty {
        text += "\u{1B}[\(parameters)m\(piece)\u{1B}[0m"
      } else {
        text += piece
      }
    }
    return isCut && width > 0 ? text + "…" : text
  }
}
