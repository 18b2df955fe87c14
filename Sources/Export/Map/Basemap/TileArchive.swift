/// A file with map tiles.
protocol TileArchive: Sendable {
  /// Whether its tiles are vector tiles (MVT), else images.
  var isVector: Bool { get }
  var zooms: ClosedRange<Int> { get }
  /// As the file has it, often with HTML.
  var attribution: String? { get }
  /// The tile as stored; `nil` when there is none. It is not checked yet.
  /// - Throws: ``BasemapError`` when the file cannot be read.
  func bytes(of tile: TilePlace) throws -> [UInt8]?
}
