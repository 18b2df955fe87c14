/// The scratch file of a GeoPackage cannot be made, written or read, mostly because its folder has no room.
public struct GeoPackageError: Error, Hashable, CustomStringConvertible {
  /// The folder in which it is made.
  public let folder: String
  /// The reason, in words.
  public let reason: String

  /// The reason and the remedy, in one line.
  public var description: String {
    "cannot make the GeoPackage in \(folder): \(reason); set TMPDIR to a folder with room for it, or use -o"
  }
}
