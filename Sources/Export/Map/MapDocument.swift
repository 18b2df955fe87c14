import Foundation
import OrderedJSON

/// The HTML document of the exported map page and of the live page. It refers to no other file.
struct MapDocument {
  private let options: MapOptions
  private let leaflet: Leaflet
  /// Whether the page asks the service that it comes from for fences and speed tests.
  private let isLive: Bool

  /// - Throws: ``LeafletError``
  /// - Parameter isLive: Whether it is the live page, whose script asks the service for fences.
  init(_ options: MapOptions, isLive: Bool = false) throws {
    (self.options, self.isLive) = (options, isLive)
    leaflet = try Leaflet(folder: options.leaflet)
  }

  /// 128 random bits that only the page's own scripts and styles carry: an injected element without them does not run.
  static func nonce() -> String {
    (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
  }

  /// The Content-Security-Policy (https://www.w3.org/TR/CSP3/): nothing but the page's own scripts and styles, embedded
  /// images, and the tiles. Only the live page may connect, to its own service.
  func contentSecurityPolicy(nonce: String) -> String {
    let images = (["data:"] + (options.tiles.map { [$0.origin] } ?? [])).joined(separator: " ")
    return "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src \(images); "
      + (isLive ? "connect-src 'self'; " : "") + "base-uri 'none'; form-action 'none'"
  }

  /// Everything before the fences: styles, the elements of the page, and the settings for its script.
  func head(nonce: String) -> [UInt8] {
    let head = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="\(contentSecurityPolicy(nonce: nonce))">
      <meta name="color-scheme" content="light dark">
      <title>Coverage map</title>
      <style nonce="\(nonce)">

      """
    return Array(head.utf8) + ScriptText.library(leaflet.style) + PackageResources.map_css
      + (isLive ? PackageResources.live_css : []) + Array("</style>\n</head>\n".utf8) + PackageResources.map_html
      + Self.element("type=\"application/json\" id=\"settings\"", ScriptText.json(Array(settings.text.utf8)))
  }

  /// Everything behind the fences and the tests: the terms of the library, the library and the page's own script.
  func tail(nonce: String) -> [UInt8] {
    var tail: [UInt8] = []
    if !leaflet.terms.isEmpty {
      tail += Self.element("type=\"text/plain\" id=\"leaflet-terms\"", ScriptText.library(leaflet.terms))
    }
    tail += Self.element("nonce=\"\(nonce)\"", ScriptText.library(leaflet.script))
    // Only the live page has code that asks a server.
    let (tiles, panel) = isLive ? (PackageResources.live_tiles_js, PackageResources.live_js) : ([], [])
    let script = Array("\"use strict\";\n".utf8) + tiles + MapScript.text + panel
    return tail + Self.element("nonce=\"\(nonce)\"", script) + Array("</body>\n</html>\n".utf8)
  }

  /// The data of the page that are the same for all fences: the legend, and name, kind and meaning of each column. The script
  /// reads them from the element `settings`.
  private var settings: JSON {
    .object([
      "technologies": .array(
        Legend.classes.map {
          .object(["label": .string($0.label), "colour": .string($0.colour), "is_hollow": .bool($0.isHollow)])
        }),
      "wifi": .string(Legend.excluded),
      "columns": .array(
        MapColumns.all.map { .array([.string($0.name), .string($0.kind.rawValue), .string($0.meaning)]) }),
      "speed_test_columns": .array(
        MapSpeedTests.columns.map { .array([.string($0.name), .string($0.kind.rawValue), .string($0.meaning)]) }),
      "tiles": options.tiles.map { .string($0.address) },
      // The exported page has its tiles in an element of their own.
      "basemap": isLive ? options.basemap.map { .object($0.members) } : nil,
    ])
  }

  /// A `script` element; `text` must be free of `</script` (``ScriptText``).
  static func element(_ attributes: String, _ text: [UInt8]) -> [UInt8] {
    Array("<script \(attributes)>".utf8) + text + Array("</script>\n".utf8)
  }
}

/// The page's own script, joined from the files in `Page`, which the build embeds. A part comes after the parts that it uses;
/// `map.js` starts the page, so it is the last. The live page has `live_tiles.js` before it and `live.js` behind it.
enum MapScript {
  static let text: [UInt8] =
    PackageResources.symbols_js + PackageResources.projection_js + PackageResources.fence_table_js
    + PackageResources.fence_item_js
    + PackageResources.speed_tests_js + PackageResources.time_axis_js + PackageResources.views_js
    + PackageResources.vector_tile_js + PackageResources.basemap_style_js + PackageResources.basemap_js
    + PackageResources.track_js + PackageResources.fence_layer_js
    + PackageResources.timeline_js + PackageResources.sessions_js + PackageResources.speed_test_table_js
    + PackageResources.card_js + PackageResources.map_js
}

/// The map library Leaflet from Debian's package. It is copied into the page, so that the page works without any other file;
/// it is no part of this program.
struct Leaflet {
  let script: [UInt8]
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

/// The map library is not installed.
struct LeafletError: Error, Hashable, CustomStringConvertible {
  let folder: String
  let file: String

  var description: String {
    "the map page needs Leaflet, and \(folder)/\(file) cannot be read: sudo apt install libjs-leaflet"
  }
}
