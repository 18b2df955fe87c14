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

  /// - Throws: ``LeafletError``
  init(_ records: Records, speedTests: [StoredSpeedTest], options: MapOptions) throws {
    (self.records, self.speedTests) = (records, speedTests)
    document = try MapDocument(options)
  }

  /// Writes the page: its head, the fences in chunks, the speed tests, then the scripts, which read both from the document.
  /// - Throws: Errors of the records and of `write`.
  func write(_ write: ([UInt8]) throws -> Void) throws {
    let nonce = MapDocument.nonce()
    try write(document.head(nonce: nonce))
    try writeFences(write)
    try writeSpeedTests(write)
    try write(document.tail(nonce: nonce))
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
