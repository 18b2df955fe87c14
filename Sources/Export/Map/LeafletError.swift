/// The map library is not installed.
public struct LeafletError: Error, Hashable, CustomStringConvertible {
  /// Where it was looked for.
  public let folder: String
  /// The file that is not there.
  public let file: String

  /// The reason and the remedy, in one line.
  public var description: String {
    "the map page needs Leaflet, and \(folder)/\(file) cannot be read: sudo apt install libjs-leaflet"
  }
}
