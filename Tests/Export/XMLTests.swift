import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// GPX, KML and the XML text of both.
struct XMLTests {
  @Test("when text has markup characters, then they are escaped; characters that XML forbids are replaced")
  func escapes() {
    var text = XMLWriter()
    text.element("a b=\"c\"", "1 < 2 & \"3\" > \u{1}\u{FFFE}\nÖ\u{1F697}")
    text.element("d", nil)
    #expect(
      String(decoding: text.bytes, as: UTF8.self)
        == "<a b=\"c\">1 &lt; 2 &amp; &quot;3&quot; &gt; \u{FFFD}\u{FFFD}&#10;Ö\u{1F697}</a>")
  }

  @Test("when a fence is a waypoint, then its elements have the order of the schema, and all figures are extensions")
  func waypoint() throws {
    let text = try ExportFormat.gpx.text([.whole()])
    #expect(
      text.contains(
        """
        <wpt lat="48.2082" lon="16.3738"><ele>171.3</ele><time>2026-11-20T10:00:10.000Z</time>\
        <name>4G/LTE 31.7 ms</name><desc>mean 31.7 ms, 1 of 40 pings lost (2.5 %)</desc><type>fence</type><extensions>\
        <cp:id>7</cp:id><cp:session>3</cp:session>\
        <cp:drive>2</cp:drive><cp:store_id>f81d4fae-7dec-41d0-a765-00a0c91e6bf6</cp:store_id><cp:clock>gnss</cp:clock>\
        <cp:quarantined>false</cp:quarantined>
        """), "\(text)")
    for column in ColumnList.storedFields where !GPX.omitted.contains(column.name) {
      #expect(text.contains("</cp:\(column.name)>"), "\(column.name)")
    }
    #expect(text.contains("<cp:operator_name>A &lt;Network&gt;</cp:operator_name>"))
  }

  @Test("when there are tracks, then a session's segments are in one track, after the waypoints")
  func tracks() throws {
    let text = try ExportFormat.gpx.text(
      [.bare()], tracks: [.sample(), .sample(positions: 2), .sample(session: 4, link: "A & B")])
    #expect(text.ranges(of: "<trk>").count == 2 && text.ranges(of: "</trk>").count == 2)
    #expect(text.ranges(of: "<trkseg>").count == 3 && text.ranges(of: "<trkpt ").count == 8)
    #expect(text.contains("</wpt>\n<trk><name>session 3</name>") && text.contains("<name>session 4, A &amp; B</name>"))
    #expect(
      text.contains(
        """
        <trkpt lat="48.201" lon="16.3"><ele>171.3</ele><time>2026-11-20T10:00:01.000Z</time><extensions>\
        <cp:accuracy_m>4.5</cp:accuracy_m><cp:course_deg>0.5</cp:course_deg><cp:speed_mps>13.4</cp:speed_mps>
        """))
  }

  @Test(
    "when a longitude is 180 degrees east, even by rounding, then GPX has 180 degrees west, as its schema demands",
    arguments: [
      (180, "-180.0", "179.9999999"), (179.99999997, "-180.0", "179.9999999"), (-180, "-180.0", "-180.0"),
      (179.9999999, "179.9999999", "179.9999999"),
    ])
  func antimeridian(longitude: Double, written: String, onTrack: String) throws {
    let place = Coordinate(latitude: 48.2, longitude: longitude)
    let point = try #require(TrackPoint(time: .sampleStart, fix: Fix(coordinate: place)))
    let text = try ExportFormat.gpx.text(
      [.bare(longitude: longitude)], tracks: [TrackSegment(session: 3, link: nil, points: [point, point])])
    #expect(text.contains("<wpt lat=\"48.2\" lon=\"\(written)\">"), "\(text)")
    // A track from there would run around the Earth to 180 degrees west.
    #expect(text.ranges(of: "<trkpt lat=\"48.2\" lon=\"\(onTrack)\">").count == 2, "\(text)")
  }

  @Test(
    "when an altitude needs an exponent, then GPX omits the altitude: its schema allows no exponent",
    arguments: [
      (1e17, nil), (1e300, nil), (.infinity, nil), (.nan, nil), (-0.001, "0.0"), (1e-9, "0.0"), (8848.86, "8848.86"),
    ]
      as [(Double, String?)])
  func altitude(metres: Double, written: String?) throws {
    let fix = Fix(coordinate: Coordinate(latitude: 48.2, longitude: 16.3), altitude: metres)
    let point = try #require(TrackPoint(time: .sampleStart, fix: fix))
    let text = try ExportFormat.gpx.text([], tracks: [TrackSegment(session: 3, link: nil, points: [point])])
    #expect(
      text.contains("<trkpt lat=\"48.2\" lon=\"16.3\">" + (written.map { "<ele>\($0)</ele>" } ?? "") + "<time>"),
      "\(text)")
  }

  @Test("when there are two sessions, then KML has a folder for each, and one for the tracks")
  func folders() throws {
    let text = try ExportFormat.kml.text(
      [.whole(), .whole(id: 8, link: nil), .bare(id: 9, session: 4)], tracks: [.sample()])
    #expect(text.ranges(of: "<Folder>").count == 3 && text.ranges(of: "</Folder>").count == 3)
    #expect(text.contains("<Folder><name>Session 3, A</name><description>test T1</description>"))
    #expect(text.contains("<Folder><name>Session 4</name>\n"))
    #expect(text.contains("<name>Track of session 3</name>"))
    #expect(text.ranges(of: "<Placemark").count == 4)
    let ids = text.matches(of: /Placemark id="(fence-\d+)"/).map { String($0.1) }
    #expect(ids == ["fence-7", "fence-8", "fence-9"])
  }

  @Test("when a fence has a technology, then its style has that colour, and each style exists")
  func styles() throws {
    let text = try ExportFormat.kml.text([.whole(), .bare()])
    let used = text.matches(of: /<styleUrl>#([^<]*)</).map { String($0.1) }
    #expect(used == ["t-4g", "t-unmeasured"])
    for style in used + ["t-4g-wifi", "t-none", "track"] { #expect(text.contains("<Style id=\"\(style)\">")) }
    // #00DEFF in KML's order.
    #expect(text.contains("<Style id=\"t-4g\"><IconStyle><color>ffffde00</color>"))
  }

  @Test("when a fence has a value, then it is a field of KML's schema, with the fence's time span")
  func fields() throws {
    let text = try ExportFormat.kml.text([.whole()])
    for column in ColumnList.storedFields {
      #expect(text.contains("name=\"\(column.name)\"/>") && text.contains("<SimpleData name=\"\(column.name)\">"))
    }
    #expect(
      text.contains("<TimeSpan><begin>2026-11-20T10:00:10.000Z</begin><end>2026-11-20T10:00:14.000Z</end></TimeSpan>"))
  }

  @Test("when the shape is a circle, then KML has polygons, and two for a circle across the antimeridian")
  func circles() throws {
    let text = try ExportFormat.kml.text([.whole(), .bare(longitude: 179.9999)], shape: .circle)
    #expect(!text.contains("<Point>"))
    #expect(text.ranges(of: "<Polygon>").count == 3 && text.ranges(of: "<MultiGeometry>").count == 1)
  }

  @Test("when there is no fence, then GPX and KML are still complete documents")
  func empty() throws {
    #expect(try ExportFormat.gpx.text([]).hasSuffix("/1/1\" xmlns:cp=\"urn:x-coverage-probe:gpx:1\">\n</gpx>\n"))
    #expect(try ExportFormat.kml.text([]).hasSuffix("</Schema>\n</Document>\n</kml>\n"))
  }

  @Test(
    "when GDAL opens GPX or KML, then it finds the fences and the tracks",
    .enabled(if: Surroundings.program("ogrinfo") != nil, "gdal-bin is not installed"),
    arguments: [ExportFormat.gpx, .kml])
  func gdal(format: ExportFormat) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      try format.text((0..<5).map { .whole(id: $0, latitude: 48 + Double($0) / 100) }, tracks: [.sample()]),
      to: "drive.\(format.rawValue)")
    let ogrinfo = try RunningProgram(try #require(Surroundings.program("ogrinfo")), ["-ro", "-so", "-al", file])
    #expect(try await ogrinfo.exitStatus() == 0)
    #expect(
      ogrinfo.standardOutput.contains("Feature Count: 5\nExtent: (16.373800, 48.000000) - (16.373800, 48.040000)"))
  }
}
