import Coverage
import OrderedJSON
import Store

/// A self-contained page with an interactive map of the fences and the speed tests (docs/map.md). Without tiles it makes no
/// request.
///
/// The fences are read once and written in chunks, so that memory does not grow with their number. The page computes totals
/// and sessions itself.
struct MapPage<Records: FenceRecords, Tracks: DriveTracks> {
  let records: Records
  let tracks: Tracks
  let speedTests: [StoredSpeedTest]
  let options: MapOptions
  let provenance: ProvenanceSource?
  /// Receives a line about a base map that has no tile of the area, or damaged ones.
  let complain: (String) -> Void

  /// Writes the page: its head, the fences in chunks, the speed tests, then the scripts, which read both from the document.
  /// - Throws: ``LeafletError``, ``BasemapError``, and errors of the records, the tracks and `write`.
  func write(_ write: ([UInt8]) throws -> Void) throws {
    let (document, nonce) = (try MapDocument(options), MapDocument.nonce())
    try write(document.head(nonce: nonce))
    let cover = try writeFences(write)
    // An element for each segment, so that memory does not grow with their number.
    try tracks.forEach { segment in
      try write(MapDocument.element("type=\"application/json\" class=\"track\"", MapTrack.text(segment)))
    }
    try writeBasemap(cover, write)
    // Tests are few: all are in one element, and there is none without tests.
    if !speedTests.isEmpty {
      try write(MapDocument.element("type=\"application/json\" id=\"speed-tests\"", MapSpeedTests.text(speedTests)))
    }
    try writeProvenance(write)
    try write(document.tail(nonce: nonce))
  }

  /// The provenance as JSON for programs, and below the map for people, which needs no script.
  private func writeProvenance(_ write: ([UInt8]) throws -> Void) throws {
    guard let provenance = try provenance?() else { return }
    let json = ScriptText.json(Array(provenance.json.text.utf8))
    try write(MapDocument.element("type=\"application/json\" id=\"provenance\"", json))
    var text = XMLWriter()
    text.raw("<footer>")
    text.element("p", provenance.line)
    if !provenance.driveLines.isEmpty {
      text.raw("<details><summary>Drive logs</summary><ul>")
      for line in provenance.driveLines { text.element("li", line) }
      text.raw("</ul></details>")
    }
    text.raw("</footer>\n")
    try text.flush(to: write, isLast: true)
  }

  /// Chunks are small enough for memory, and large enough that the names of columns do not count.
  private static var fencesPerChunk: Int { 2000 }

  /// - Returns: Where the fences are.
  private func writeFences(_ write: ([UInt8]) throws -> Void) throws -> TileCover {
    var (chunk, cover) = (MapChunk(), TileCover())
    func flush() throws {
      guard chunk.fences > 0 else { return }
      try write(MapDocument.element("type=\"application/json\" class=\"fences\"", chunk.text))
      chunk = MapChunk()
    }
    try records.forEach { record in
      chunk.add(record)
      cover.add(record.fence.centre)
      if chunk.fences == Self.fencesPerChunk { try flush() }
    }
    try flush()
    return cover
  }

  /// The tiles around the fences, at most ``BasemapClip/mostBytes``.
  private func writeBasemap(_ cover: TileCover, _ write: ([UInt8]) throws -> Void) throws {
    guard let basemap = options.basemap else { return }
    let clip = try BasemapClip(basemap, cover)
    if clip.damaged > 0 { complain("left out tiles of \(basemap.path) that are damaged or too large: \(clip.damaged)") }
    guard !clip.isEmpty else { return complain("\(basemap.path) has no tile of the area of the fences") }
    try write(MapDocument.element("type=\"application/json\" id=\"basemap\"", ScriptText.json(clip.text)))
  }
}

/// The map page that grows as a drive goes on: its script gets fences and speed tests from the service that serves it
/// (docs/live-page.md).
public struct LivePage: Sendable {
  /// The document, without any fence. Its nonce stays the same as long as the value lives.
  public let html: [UInt8]
  /// The Content-Security-Policy for the answer's header: that of the document, and no other page may frame it.
  public let contentSecurityPolicy: String

  /// - Parameter options: The map library, and tiles.
  /// - Throws: ``LeafletError``
  public init(options: MapOptions = MapOptions()) throws {
    let (document, nonce) = (try MapDocument(options, isLive: true), MapDocument.nonce())
    html = document.head(nonce: nonce) + document.tail(nonce: nonce)
    contentSecurityPolicy = document.contentSecurityPolicy(nonce: nonce) + "; frame-ancestors 'none'"
  }

  /// Fences as the page adds them to its map: one JSON object in one line.
  public static func chunk(_ records: [FenceRecord]) -> [UInt8] {
    var chunk = MapChunk()
    for record in records { chunk.add(record) }
    return chunk.text
  }

  /// Speed tests as the page adds them to its map: one JSON array in one line.
  public static func speedTests(_ tests: [StoredSpeedTest]) -> [UInt8] { MapSpeedTests.text(tests) }
}
