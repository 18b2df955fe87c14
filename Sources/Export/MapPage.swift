import Coverage

/// A self-contained page with the fences as circles to scale, coloured by technology, delay or loss. It has no tiles and needs no network.
///
/// The records are read three times, for the totals and the size of the map, for the track, and for the circles, so that memory does not
/// grow with the number of fences.
struct MapPage<Records: FenceRecords> {
  private let records: Records
  private let totals: MapTotals

  init(_ records: Records) throws {
    self.records = records
    var totals = MapTotals()
    try records.forEach { totals.add($0.fence) }
    self.totals = totals
  }

  func write(_ write: (String) throws -> Void) throws {
    let title = counted(totals.fences, "fence")
    try write(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>Coverage drive: \(title)</title>
      <style>\(MapLooks.style)</style>
      </head>
      <body class="technology">
      <header>
      <h1>\(title)</h1>
      <dl>\(totals.html)</dl>
      <nav>
      <button data-view="technology">Technology</button>
      <button data-view="delay">Delay</button>
      <button data-view="loss">Loss</button>
      </nav>
      </header>

      """)
    try writeMap(write)
    try write(
      """
      <footer>
      \(Legend.html)
      </footer>
      <script>\(MapLooks.script)</script>
      </body>
      </html>

      """)
  }

  private func writeMap(_ write: (String) throws -> Void) throws {
    guard let projection = Projection(box: totals.box, largestRadius: totals.radius) else {
      return try write("<p>There is no fence to show.</p>\n")
    }
    try write(
      """
      <svg viewBox="0 0 \(projection.width) \(projection.height)" role="img" aria-label="Map of the fences">

      """)
    try writeTrack(projection, write)
    try eachRecord { try write(MapCircle.html($0, at: projection.point($0.fence.centre)) + "\n") }
    try write("\(projection.scaleBar)\n</svg>\n")
  }

  /// The line from fence to fence, interrupted where the next fence is further away than four radii (docs/algorithm.md,
  /// 9).
  private func writeTrack(_ projection: Projection, _ write: (String) throws -> Void) throws {
    var last: Fence?
    try write("<polyline class=\"track\" points=\"")
    try eachRecord { record in
      let point = projection.point(record.fence.centre)
      if let last, last.centre.distance(to: record.fence.centre) > 4 * last.radius {
        try write("\"/>\n<polyline class=\"track\" points=\"")
      } else if last != nil {
        try write(" ")
      }
      try write("\(point.x),\(point.y)")
      last = record.fence
    }
    try write("\"/>\n")
  }

  /// The records that the totals include; later ones are left out.
  private func eachRecord(_ body: (FenceRecord) throws -> Void) throws {
    var rest = totals.fences
    try records.forEach { record in
      guard rest > 0 else { return }
      rest -= 1
      try body(record)
    }
  }
}
