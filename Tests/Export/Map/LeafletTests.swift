import Foundation
import TestSupport
import Testing

@testable import Export

struct LeafletTests {
  @Test("when the library is installed, then script, style and terms are read unchanged")
  func complete() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("script", to: "leaflet.js")
    _ = try folder.write("style", to: "leaflet.css")
    let terms = try folder.write("terms", to: "copyright")
    let leaflet = try Leaflet(folder: folder.path, terms: terms)
    #expect(
      leaflet.script == Array("script".utf8) && leaflet.style == Array("style".utf8)
        && leaflet.terms == Array("terms".utf8))
  }

  @Test("when there is a minified script too, then it is used")
  func small() throws {
    let folder = try TemporaryFolder()
    for name in ["leaflet.js", "leaflet.min.js", "leaflet.css"] { _ = try folder.write(name, to: name) }
    #expect(try Leaflet(folder: folder.path).script == Array("leaflet.min.js".utf8))
  }

  @Test("when the system has no licence file, then the library is used without terms")
  func withoutTerms() throws {
    let folder = try TemporaryFolder()
    for name in ["leaflet.js", "leaflet.css"] { _ = try folder.write(name, to: name) }
    #expect(try Leaflet(folder: folder.path, terms: folder.file("copyright")).terms.isEmpty)
  }

  @Test("when the library is not installed, then one line names the missing file, its folder and the package")
  func missing() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: LeafletError.self) { try Leaflet(folder: folder.path) }
    let line = try #require(error).description
    #expect(line.contains("\(folder.path)/leaflet.min.js") && line.hasSuffix("sudo apt install libjs-leaflet"))
    #expect(!line.contains("\n"))
  }

  @Test("when a file of the library is missing or empty, then the line names that file", arguments: [true, false])
  func incomplete(isThere: Bool) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("script", to: "leaflet.min.js")
    if isThere { _ = try folder.write("", to: "leaflet.css") }
    #expect(throws: LeafletError(folder: folder.path, file: "leaflet.css")) { try Leaflet(folder: folder.path) }
  }

  @Test("when the library is missing, then the export ends before its first byte")
  func nothingWritten() throws {
    let folder = try TemporaryFolder()
    var writes = 0
    #expect(throws: LeafletError.self) {
      try ExportFormat.html.export([FenceRecord.whole()], map: MapOptions(leaflet: folder.path)) { _ in writes += 1 }
    }
    #expect(writes == 0)
  }
}
