import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Export

/// The tracks of drives, from their logs.
struct TrackTests {
  private static let windows = [
    TrackCutter.Window(session: 1, times: .seconds(0) ..< .seconds(100)),
    TrackCutter.Window(session: 2, times: .seconds(100) ..< .seconds(200)),
  ]

  private func cutter(_ change: (inout FenceFilter) -> Void = { _ in }) -> TrackCutter {
    var filter = FenceFilter()
    change(&filter)
    return TrackCutter(
      driveStarted: .sampleStart, link: "A", windows: Self.windows, accuracyLimit: 15, filter: filter)
  }

  private func fix(_ second: Double, accuracy: Double? = 5) -> Fix {
    Fix(coordinate: Coordinate(latitude: 48 + second / 10_000, longitude: 16), accuracy: accuracy)
  }

  /// The numbers of positions of the segments, with their sessions.
  private func cut(_ cutter: TrackCutter, _ fixes: [(Double, Fix)]) -> [String] {
    var cutter = cutter
    var segments = fixes.compactMap { cutter.add($0.1, at: .seconds($0.0)) }
    if let last = cutter.end() { segments.append(last) }
    return segments.map { "\($0.session):\($0.points.count)" }
  }

  @Test("when positions follow each other, then they are one segment, with the times of the drive")
  func oneSegment() throws {
    var cutter = cutter()
    let ended = (0..<5).compactMap { cutter.add(fix(Double($0)), at: .seconds(Double($0))) }
    #expect(ended.isEmpty)
    let whole = cutter.end()
    let segment = try #require(whole)
    #expect(segment.session == 1 && segment.link == "A" && segment.points.count == 5)
    #expect(segment.points[4].time == .sampleStart.later(by: .seconds(4)))
    let nothing = cutter.end()
    #expect(nothing == nil)
  }

  @Test("when the fix is lost, or missing for more than ten seconds, then a new segment begins")
  func gaps() {
    let lost = (2.5, Fix.lost)
    #expect(cut(cutter(), [(0, fix(0)), (1, fix(1)), lost, (3, fix(3)), (4, fix(4))]) == ["1:2", "1:2"])
    #expect(cut(cutter(), [(0, fix(0)), (1, fix(1)), (11, fix(11)), (22, fix(22)), (23, fix(23))]) == ["1:3", "1:2"])
    #expect(cut(cutter(), [(0, fix(0)), lost, (3, fix(3)), lost]) == [], "one position is no line")
  }

  @Test("when the next session begins, then its segment begins at the last position before it")
  func sessions() {
    let fixes = stride(from: 97.0, through: 103, by: 1).map { ($0, fix($0)) }
    #expect(cut(cutter(), fixes) == ["1:3", "2:5"], "the line has no hole")
    #expect(cut(cutter(), [(198, fix(198)), (199, fix(199)), (200, fix(200)), (201, fix(201))]) == ["2:2"])
  }

  @Test("when a position is inaccurate, repeated or from the past, then the track omits it and continues")
  func omitted() {
    let fixes: [(Double, Fix)] = [
      (0, fix(0)), (1, fix(1, accuracy: 15.1)), (2, fix(2, accuracy: nil)), (3, fix(3, accuracy: 15)), (3, fix(3)),
      (2, fix(2)), (4, fix(4)),
    ]
    #expect(cut(cutter(), fixes) == ["1:3"])
  }

  @Test("when a segment is very long, then a new segment continues it from its last position")
  func long() throws {
    var cutter = TrackCutter(
      driveStarted: .sampleStart, link: nil, windows: [.init(session: 1, times: .start ..< .seconds(1e6))],
      accuracyLimit: 15, filter: FenceFilter())
    var segments: [TrackSegment] = []
    for second in 0..<(TrackCutter.mostPoints + 5) {
      if let segment = cutter.add(fix(Double(second % 100)), at: .seconds(Double(second))) { segments.append(segment) }
    }
    let end = cutter.end()
    let last = try #require(end)
    #expect(segments.map(\.points.count) == [TrackCutter.mostPoints])
    #expect(last.points.count == 6 && last.points.first == segments[0].points.last)
  }

  @Test("when a time or a box is given, then only its positions are on the track")
  func filtered() {
    let fixes = (0..<10).map { (Double($0), fix(Double($0))) }
    #expect(cut(cutter { $0.from = .sampleStart.later(by: .seconds(4)) }, fixes) == ["1:6"])
    #expect(cut(cutter { $0.box = SearchBox("16,48.00035,16,49") }, fixes) == ["1:6"])
    #expect(cut(cutter { $0.technologies = [.name("5G/NR")] }, fixes) == ["1:10"], "a position has no technology")
  }

  // MARK: From the store

  /// A store with two drives, the first with a log of ten positions, and pings between them.
  private func store(in folder: TemporaryFolder, log text: String?) throws -> StoreReader {
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    for number in 0..<2 {
      let log = "drive-\(number).jsonl"
      if number == 0, let text { _ = try folder.write(text, to: "state/drives/\(log)") }
      var recorder = try DriveRecorder(
        store, started: .sampleStart.later(by: .seconds(3600 * number)), log: folder.file("elsewhere/\(log)"), link: nil
      )
      try recorder.save(
        sessions: [Session(number: 0, testUUID: "T\(number)", started: .start, finalized: .seconds(60))],
        fences: [.sample()], seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
    }
    return try StoreReader(directory: StateDirectory(path: folder.file("state")))
  }

  private static let header = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"#

  private static func log(_ lines: [String]) -> String { ([header] + lines).joined(separator: "\n") + "\n" }

  private static let positions = (0..<10).flatMap { second in
    [
      #"{"at":\#(second).0,"fix":{"latitude":48.2,"longitude":16.3\#(second),"accuracy":5.0}}"#,
      #"{"at":\#(second).1,"ping":{"rtt_ms":31.67}}"#,
    ]
  }

  private func segments(
    _ reader: StoreReader, session: Int64? = nil, where isChosen: @escaping (Int64) -> Bool = { _ in true }
  ) throws -> (segments: [TrackSegment], complaints: [String]) {
    nonisolated(unsafe) var complaints: [String] = []
    var segments: [TrackSegment] = []
    let tracks = StoredTracks(reader, session: session, filter: FenceFilter(), where: isChosen) {
      complaints.append($0)
    }
    try tracks.forEach { segments.append($0) }
    return (segments, complaints)
  }

  @Test("when a drive has a log, then its session has a track; without a log it has no track")
  func stored() throws {
    let folder = try TemporaryFolder()
    let reader = try store(in: folder, log: Self.log(Self.positions))
    let (segments, complaints) = try segments(reader)
    #expect(segments.map(\.points.count) == [10] && segments.map(\.session) == [1] && complaints.isEmpty)
    #expect(segments.first?.points[3].place == Coordinate(latitude: 48.2, longitude: 16.33))
    #expect(try self.segments(reader, session: 2).segments.isEmpty)
    #expect(try self.segments(reader, where: { $0 != 1 }).segments.isEmpty, "no fence of it is exported")
  }

  @Test("when lines of a log cannot be read, then the track has the other positions, and a message counts the lines")
  func damagedLines() throws {
    let folder = try TemporaryFolder()
    let broken = [
      "{\"at\":3.5,\"fix\":{\"latitude\":\"x\"}}", "garbage", String(repeating: "x", count: 200_000),
      "{\"at\":9.5,\"fi",
    ]
    let reader = try store(
      in: folder, log: Self.log(Array(Self.positions[..<8]) + broken + Array(Self.positions[8...])))
    let (segments, complaints) = try segments(reader)
    #expect(segments.map(\.points.count) == [10])
    // The line that is too long is read in two pieces.
    #expect(complaints == ["drive 1: lines of the log that cannot be read: 5"])
  }

  @Test(
    "when a log has no header, then its drive has no track, and one line gives the reason",
    arguments: ["", "{}\n", "PNG\n"])
  func noLog(text: String) throws {
    let folder = try TemporaryFolder()
    let (segments, complaints) = try segments(store(in: folder, log: text))
    #expect(segments.isEmpty)
    #expect(complaints.count == 1 && complaints[0].hasPrefix("drive 1 has no track: "), "\(complaints)")
  }
}
