import Coverage
import Driving

/// The live panel of `record` and `status --watch`: a few lines with the present state and the delays of the last seconds.
public struct Panel: Sendable {
  private var state = PanelState()
  /// The last seconds, by link; "" for the only link. A link that is no longer in the state loses them.
  private var trails: [String: DelayTrail] = [:]

  /// An empty panel.
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
  ///   - isColoured: Whether warnings and losses have colours.
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
