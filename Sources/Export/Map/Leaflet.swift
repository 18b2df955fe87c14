import Foundation

/// The map library Leaflet from Debian's package. It is copied into the page, so that the page works without any other file;
/// it is no part of this program.
struct Leaflet {
  /// The text of the library.
  let script: [UInt8]
  /// The text of its style sheet.
  let style: [UInt8]
  /// The terms under which it may be passed on, as the package has them; empty where a system leaves out such files.
  let terms: [UInt8]

  /// Reads the library from `folder`.
  /// - Parameter terms: The path of the file with the terms.
  /// - Throws: ``LeafletError`` without the script or the style sheet. The terms may be absent.
  init(folder: String, terms: String = "/usr/share/doc/libjs-leaflet/copyright") throws {
    script = try Self.contents(of: ["leaflet.min.js", "leaflet.js"], in: folder)
    style = try Self.contents(of: ["leaflet.css"], in: folder)
    // Small systems leave out /usr/share/doc.
    self.terms = FileManager.default.contents(atPath: terms).map(Array.init) ?? []
  }

  /// The first file that is there and not empty: the minified script, else the full one.
  private static func contents(of names: [String], in folder: String) throws -> [UInt8] {
    for name in names {
      if let data = FileManager.default.contents(atPath: "\(folder)/\(name)"), !data.isEmpty { return Array(data) }
    }
    throw LeafletError(folder: folder, file: names[0])
  }
}
