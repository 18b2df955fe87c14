import OrderedJSON
import Store

/// A self-contained page with an interactive map of the fences and the speed tests (docs/map.md). Without tiles it makes no
/// request.
///
/// The fences are read once and written in chunks, so that memory does not grow with their number. The page computes totals
/// and sessions itself.
struct MapPage<Records: FenceRecords> {
  private let records: Records
  private let speedTests: [StoredSpeedTest]
  private let document: MapDocument
  private let provenance: ProvenanceSource?

  /// - Throws: ``LeafletError``
  init(
    _ records: Records, speedTests: [StoredSpeedTest], options: MapOptions, provenance: ProvenanceSource? = nil
  ) throws {
    (self.records, self.speedTests, self.provenance) = (records, speedTests, provenance)
    document = try MapDocument(options)
  }

  /// Writes the page: its head, the fences in chunks, the speed tests, then the scripts, which read both from the document.
  /// - Throws: Errors of the records and of `write`.
  func write(_ write: ([UInt8]) throws -> Void) throws {
    let nonce = MapDocument.nonce()
    try write(document.head(nonce: nonce))
    try writeFences(write)
    try writeSpeedTests(write)
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

  private func writeFences(_ write: ([UInt8]) throws -> Void) throws {
    var chunk = MapChunk()
    func flush() throws {
      guard chunk.fences > 0 else { return }
      try write(MapDocument.element("type=\"application/json\" class=\"fences\"", chunk.text))
      chunk = MapChunk()
    }
    try records.forEach { record in
      chunk.add(record)
      if chunk.fences == Self.fencesPerChunk { try flush() }
    }
    try flush()
  }

  /// Tests are few: all are in one element, and there is none without tests.
  private func writeSpeedTests(_ write: ([UInt8]) throws -> Void) throws {
    guard !speedTests.isEmpty else { return }
    try write(MapDocument.element("type=\"application/json\" id=\"speed-tests\"", MapSpeedTests.text(speedTests)))
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
