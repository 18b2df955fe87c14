import Foundation

/// The user's own map below the fences: a PMTiles or an MBTiles file with raster or vector tiles (docs/map.md). The file is
/// from outside, so nothing in it is taken for granted.
public struct Basemap: Hashable, Sendable {
  /// The file.
  let path: String
  let archive: any TileArchive

  /// Opens a file, whose first bytes say which of both it is.
  /// - Throws: `BasemapError`, with file and reason in one line.
  public init(path: String) throws {
    self.path = path
    let file = try BasemapFile(path: path)
    let start = try file.read(.init(offset: 0, length: file.size), 0, 16, atMost: 16) ?? []
    if start.starts(with: PMTiles.magic) {
      archive = try PMTiles(file)
    } else if start == MBTiles.magic {
      archive = try MBTiles(file)
    } else {
      throw file.error("it is neither PMTiles nor MBTiles")
    }
  }

  public static func == (a: Basemap, b: Basemap) -> Bool { a.path == b.path }

  public func hash(into hasher: inout Hasher) { hasher.combine(path) }

  /// A tile that a page may have, as stored (vector tiles mostly in gzip).
  /// - Returns: `nil` when there is none; empty for one that is damaged or too large.
  /// - Throws: `BasemapError` when the file cannot be read.
  func tile(_ place: TilePlace) throws -> [UInt8]? {
    guard let bytes = try archive.bytes(of: place) else { return nil }
    return TileContent.isGood(bytes, isVector: archive.isVector) ? bytes : []
  }

  /// A tile for the live page, by the numbers of its address, which are from outside; `nil` when there is none.
  /// - Throws: `BasemapError` when the file cannot be read.
  public func tile(zoom: Int, column: Int, row: Int) throws -> [UInt8]? {
    guard let place = TilePlace(zoom: zoom, column: column, row: row), let bytes = try tile(place), !bytes.isEmpty
    else { return nil }
    return bytes
  }

  /// The attribution as text: without tags, with the usual character references resolved, in one line of 200 characters.
  var attribution: String {
    var (text, isTag) = ("", false)
    for character in (archive.attribution ?? "").prefix(2000) {
      if character == "<" { isTag = true }
      if !isTag { text.append(character) }
      if character == ">" { isTag = false }
    }
    for (name, character) in [
      ("&copy;", "©"), ("&#169;", "©"), ("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
    ] {
      text = text.replacing(name, with: character)
    }
    let words = text.split {
      $0.isWhitespace || $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
    return String(words.joined(separator: " ").prefix(200))
  }
}
