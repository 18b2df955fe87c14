import Store

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
