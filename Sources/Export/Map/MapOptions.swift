/// The map library and the tiles of a map page.
public struct MapOptions: Hashable, Sendable {
  /// The folder with Leaflet's files.
  let leaflet: String
  /// The tiles of a base map; `nil`: none, and the page makes no request.
  public let tiles: TileSource?

  /// - Parameters:
  ///   - leaflet: The folder with Leaflet's files; by default that of Debian's package.
  ///   - tiles: The map below the fences.
  public init(leaflet: String = "/usr/share/javascript/leaflet", tiles: TileSource? = nil) {
    (self.leaflet, self.tiles) = (leaflet, tiles)
  }
}
