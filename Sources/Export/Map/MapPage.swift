import OrderedJSON

/// A self-contained page with an interactive map of the fences (docs/map.md). Without tiles it needs no network, ever.
///
/// The fences are read once and written in chunks, so that memory does not grow with their number. The page reckons totals and sessions
/// itself.
struct MapPage<Records: FenceRecords> {
  private let records: Records
  private let options: MapOptions
  private let leaflet: Leaflet

  /// - Throws: ``LeafletError``
  init(_ records: Records, options: MapOptions) throws {
    (self.records, self.options) = (records, options)
    leaflet = try Leaflet(folder: options.leaflet)
  }

  func write(_ write: ([UInt8]) throws -> Void) throws {
    // Only elements with this number run: a text from outside that came to be an element all the same would not.
    let nonce = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    try write(head(nonce: nonce))
    try write(PackageResources.map_html)
    try write(element("type=\"application/json\" id=\"settings\"", ScriptText.json(Array(settings.text.utf8))))
    try writeFences(write)
    if !leaflet.terms.isEmpty {
      try write(element("type=\"text/plain\" id=\"leaflet-terms\"", ScriptText.library(leaflet.terms)))
    }
    try write(element("nonce=\"\(nonce)\"", ScriptText.library(leaflet.script)))
    try write(element("nonce=\"\(nonce)\"", Array("\"use strict\";\n".utf8) + MapScript.text))
    try write(Array("</body>\n</html>\n".utf8))
  }

  private func head(nonce: String) -> [UInt8] {
    let images = (["data:"] + (options.tiles.map { [$0.origin] } ?? [])).joined(separator: " ")
    let head = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-\(nonce)'; \
      style-src 'nonce-\(nonce)'; img-src \(images); base-uri 'none'; form-action 'none'">
      <meta name="color-scheme" content="light dark">
      <title>Coverage map</title>
      <style nonce="\(nonce)">

      """
    return Array(head.utf8) + ScriptText.library(leaflet.style) + PackageResources.map_css
      + Array("</style>\n</head>\n".utf8)
  }

  private var settings: JSON {
    .object([
      "technologies": .array(
        Legend.technologies.map { .object(["label": .string($0.label), "colour": .string($0.colour)]) }),
      "columns": .array(
        MapColumns.all.map { .array([.string($0.name), .string($0.kind.rawValue), .string($0.meaning)]) }),
      "tiles": options.tiles.map { .string($0.address) },
    ])
  }

  /// Chunks are small enough for memory, and large enough that the names of columns do not count.
  private static var fencesPerChunk: Int { 2000 }

  private func writeFences(_ write: ([UInt8]) throws -> Void) throws {
    var chunk = MapChunk()
    func flush() throws {
      guard chunk.fences > 0 else { return }
      try write(element("type=\"application/json\" class=\"fences\"", chunk.text))
      chunk = MapChunk()
    }
    try records.forEach { record in
      chunk.add(record)
      if chunk.fences == Self.fencesPerChunk { try flush() }
    }
    try flush()
  }

  private func element(_ attributes: String, _ text: [UInt8]) -> [UInt8] {
    Array("<script \(attributes)>".utf8) + text + Array("</script>\n".utf8)
  }
}
