import Coverage

/// A small map of a stretch: its fences, joined by the way between them.
struct StretchMap {
  let stretch: Stretch

  /// The drawing; empty without a fence.
  func svg(over ground: SketchGround? = nil) -> String {
    SketchMap(
      marks: stretch.fences.map { SketchMark(place: $0.centre, radius: $0.radius, look: Self.look($0)) },
      path: stretch.fences.map(\.centre), description: description
    ).svg(over: ground)
  }

  /// A description for readers who cannot see the drawing.
  private var description: String {
    let silent = stretch.fences.count { Reception($0) == .noAnswer }
    return "Map of \(counted(stretch.fences.count, "fence")), north up; \(silent) of them without an answer."
  }

  private static func look(_ fence: Fence) -> String {
    switch Reception(fence) {
    case .noAnswer: "lost"
    case .notMeasured: "none"
    default: SketchMap.look(ofMean: fence.meanRTTNanoseconds)
    }
  }
}

/// The map of all fences of a selection, with the numbers of its worst stretches.
struct OverviewMap {
  let cells: [Overview.Cell]
  let worst: [Stretch]

  /// The drawing; empty without a cell. Cells without an answer are drawn last, so that no other hides them.
  func svg(over ground: SketchGround? = nil) -> String {
    let order = ["none", "good", "slow", "lost"]
    let marks = cells.map { SketchMark(place: $0.place, radius: 1, look: Self.look($0)) }
    return SketchMap(
      marks: order.flatMap { look in marks.filter { $0.look == look } },
      labels: worst.enumerated().compactMap { index, stretch in
        stretch.fences.first.map { ($0.centre, "\(index + 1)") }
      }, size: (400, 200), leastRadius: 2.2, description: description
    ).svg(over: ground)
  }

  private var description: String {
    let silent = cells.count { Self.look($0) == "lost" }
    return "Overview map of \(counted(cells.count, "place")), north up; \(silent) of them without an answer."
  }

  /// That of its worst link.
  private static func look(_ cell: Overview.Cell) -> String {
    let looks = cell.links.values.map {
      $0.answered > 0 ? SketchMap.look(ofMean: $0.nanoseconds / Int64($0.answered)) : "lost"
    }
    return ["lost", "slow", "good"].first(where: looks.contains) ?? "none"
  }
}
