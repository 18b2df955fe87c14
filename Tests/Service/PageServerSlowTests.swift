import Coverage
import Foundation
import Settings
import Store
import TestSupport
import Testing

@testable import Service
@testable import Submission

/// The live page over real connections: a service with it, and the stream of a store.
struct PageServerSlowTests {
  /// A port that was free a moment ago.
  private static func freePort() throws -> UInt16 {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        try #require(bind(probe, pointer, length) == 0 && getsockname(probe, pointer, &length) == 0)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// A connection to a port of 127.0.0.1, as its descriptor.
  private static func connection(to port: UInt16) throws -> CInt {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(code == 0)
    return descriptor
  }

  private struct Answer {
    let status: Int
    let headers: String
    let body: String
  }

  /// curl(1) accepts any header. Its own limit only ends a test that hangs: on a busy machine, an answer can take a minute.
  private static func curl(_ arguments: [String]) throws -> RunningProgram {
    try RunningProgram(URL(filePath: "/usr/bin/curl"), ["-s", "--max-time", "300", "--noproxy", "*"] + arguments)
  }

  private func ask(_ url: String, _ arguments: [String] = []) async throws -> Answer {
    let curl = try Self.curl(["-i", url] + arguments)
    _ = try await curl.exitStatus()
    let parts = curl.standardOutput.replacing("\r\n", with: "\n").split(separator: "\n\n", maxSplits: 1)
    let head = parts.first.map(String.init) ?? ""
    return Answer(
      status: head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, headers: head.lowercased(),
      body: parts.count > 1 ? String(parts[1]) : "")
  }

  private func withPage(
    settings: String = "", _ body: (_ page: String, _ token: String, ServiceRig) async throws -> Void
  ) async throws {
    let port = try Self.freePort()
    try await ServiceRig.run("agent: { record: command, page: \"127.0.0.1:\(port)\"\(settings) }") { rig in
      _ = try await eventually("the page is there") { rig.log.contains("live page at 127.0.0.1:\(port)") ? () : nil }
      let token = try #require(PageToken(directory: rig.configuration.stateDirectory))
      try await body("http://127.0.0.1:\(port)", token.text, rig)
    }
  }

  /// A PMTiles file (spec v3) with one image, whose 24 bytes are the start of a PNG of 256 × 256 pixels.
  private static func basemap() -> Data {
    let image: [UInt8] = [
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0, 0, 0, 1, 0,
    ]
    // Root directory: one entry, tile 0, a run of 1, its length, at the start. No metadata, no leaf directories.
    let root: [UInt8] = [1, 0, 1, UInt8(image.count), 1]
    let sections: [UInt64] = [127, 5, 0, 0, 0, 0, 132, UInt64(image.count), 0, 0, 0]
    let numbers = sections.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
    // Clustered; directories and tiles not packed; PNG; zoom 0 only.
    let kinds: [UInt8] = [1, 1, 1, 2, 0, 0]
    let header = Array("PMTiles\u{3}".utf8) + numbers + kinds + [UInt8](repeating: 0, count: 25)
    return Data(header + root + image)
  }

  @Test("when the service has a base map, then its tiles need the cookie, and a disk that fails is said once")
  func tiles() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/base.pmtiles"
    try Self.basemap().write(to: URL(filePath: path))
    try await withPage(settings: ", basemap: \"\(path)\"") { page, token, rig async throws -> Void in
      #expect(try await ask(page + "/tiles/0/0/0").status == 403)
      #expect(try await ask(page + "/tiles/0/0/0?token=\(token)").status == 403)
      let cookie = ["-H", "Cookie: coverage-probe-page=\(token)"]
      let tile = try await ask(page + "/tiles/0/0/0", cookie)
      #expect(tile.status == 200 && tile.headers.contains("content-length: 24"))
      #expect(tile.headers.contains("content-type: application/octet-stream"))
      for place in ["1/0/0", "0/1/0", "-1/0/0", "99/0/0", "0/0/99999999999999999999", "a/b/c", "0/0/%00"] {
        #expect(try await ask(page + "/tiles/" + place, cookie).status == 204, "\(place)")
      }
      #expect([403, 404].contains(try await ask(page + "/tiles/../token", cookie).status))
      // The tile begins behind 132 bytes.
      #expect(truncate(path, 132) == 0)
      for _ in 0..<2 { #expect(try await ask(page + "/tiles/0/0/0", cookie).status == 204) }
      #expect(rig.log.messages.count { $0.contains("the live page lacks tiles") } == 1)
    }
  }

  @Test("when the base map cannot be read, then the page is there without it")
  func noBasemap() async throws {
    try await withPage(settings: ", basemap: /nowhere.pmtiles") { page, token, rig async throws -> Void in
      #expect(rig.log.contains("the base map /nowhere.pmtiles cannot be used"))
      let cookie = ["-H", "Cookie: coverage-probe-page=\(token)"]
      #expect(try await ask(page + "/tiles/0/0/0", cookie).status == 204)
    }
  }

  @Test("when strangers hold forty silent connections, then the owner opens the page at once")
  func silentStrangers() async throws {
    try await withPage { page, token, _ async throws -> Void in
      let port = try #require(URLComponents(string: page)?.port.map { UInt16(clamping: $0) })
      let strangers = try (0..<40).map { _ in try Self.connection(to: port) }
      defer { strangers.forEach { close($0) } }
      // The server takes connections on several threads: on a busy machine the owner's can be counted before some of theirs, and make
      // way for them. The next one is the newest.
      var status = 0
      for _ in 0..<3 where status != 200 { status = try await ask(page + "/?token=\(token)").status }
      #expect(status == 200)
    }
  }

  @Test("when a browser has no token, then every path is refused; the link sets a cookie, which opens the page")
  func access() async throws {
    try await withPage { page, token, _ async throws -> Void in
      for path in ["/", "/events", "/?token=\(String(repeating: "a", count: 32))"] {
        let answer = try await ask(page + path)
        #expect(answer.status == 403 && !answer.body.contains("<html"), "\(path)")
      }
      #expect(try await ask(page + "/status").status == 404, "the page does not serve the socket's paths")
      let admission = try await ask(page + "/?token=\(token)")
      #expect(
        admission.status == 200
          && admission.headers.contains("set-cookie: coverage-probe-page=\(token); path=/; httponly; samesite=strict"))
      #expect(admission.headers.contains("cache-control: no-store") && !admission.body.contains(token))
      let own = try await ask(page + "/", ["-H", "Cookie: coverage-probe-page=\(token)"])
      if FileManager.default.fileExists(atPath: "/usr/share/javascript/leaflet/leaflet.js") {
        #expect(
          own.status == 200 && own.headers.contains("connect-src 'self'")
            && own.headers.contains("frame-ancestors 'none'"))
        #expect(own.body.contains("class LivePanel"))
      } else {
        #expect(own.status == 503 && own.body.contains("libjs-leaflet"))
      }
      #expect(
        try await ask(page + "/", ["-H", "Cookie: coverage-probe-page=\(token)", "-H", "Host: evil.example"]).status
          == 403)
    }
  }

  @Test(
    "when the token is renewed while the service runs, then old links and cookies are refused, and the new link works"
  )
  func renewed() async throws {
    try await withPage { page, token, rig async throws -> Void in
      let link = try #require(try PageLink.lines(rig.configuration, renew: true).first)
      #expect(try await ask(page + "/?token=\(token)").status == 403)
      #expect(try await ask(page + "/", ["-H", "Cookie: coverage-probe-page=\(token)"]).status == 403)
      let new = try #require(link.split(separator: "=").last)
      let admission = try await ask(link)
      #expect(admission.status == 200 && admission.headers.contains("coverage-probe-page=\(new)"))
      #expect(try await ask(page + "/", ["-H", "Cookie: coverage-probe-page=\(new)"]).status != 403)
    }
  }

  @Test("when a command has cookie, origin and mark, then the service executes it; without one of them it refuses")
  func commands() async throws {
    try await withPage { page, token, rig async throws -> Void in
      let whole = [
        "-X", "POST", "-H", "Cookie: coverage-probe-page=\(token)", "-H", "Origin: \(page)", "-H",
        "X-Coverage-Probe: 1",
      ]
      #expect(try await ask(page + "/pause", whole).body == "pause: not recording (paused)\n")
      #expect(try await ask(page + "/resume", whole).body == "resume: not recording (waiting for a command)\n")
      #expect(try await ask(page + "/submit", whole).status == 200)
      for (path, missing) in [("/start", 2), ("/start", 4), ("/submit", 6)] {
        var part = whole
        part.removeSubrange(missing..<(missing + 2))
        #expect(try await ask(page + path, part).status == 403, "\(path) without \(whole[missing + 1])")
      }
      #expect(!rig.log.contains("command: start"))
      #expect(try await ask(page + "/forget?session=1", whole).status == 404, "the page cannot delete")
    }
  }

  @Test("when a browser follows, then it gets the state each second; beyond the limit it gets 503")
  func following() async throws {
    try await withPage { page, token, _ async throws -> Void in
      let curls = try (0..<PageServer.mostFollowers).map { _ in
        try Self.curl(["-N", page + "/events", "-H", "Cookie: coverage-probe-page=\(token)"])
      }
      _ = try await eventually("all follow") {
        curls.allSatisfy { $0.standardOutput.contains("event: status") } ? () : nil
      }
      _ = try await eventually("a second state") {
        curls[0].standardOutput.ranges(of: "event: status\n").count >= 2 ? () : nil
      }
      #expect(
        curls[0].standardOutput.hasPrefix("retry: 2000\n\n") && curls[0].standardOutput.contains("\"state\":\"idle\""))
      let refused = try await ask(page + "/events", ["-H", "Cookie: coverage-probe-page=\(token)"])
      #expect(refused.status == 503 && refused.body == "8 pages follow already\n")
      try await curls[0].stop()
      _ = try await eventually("a place is free again") {
        try await ask(page + "/events", ["-H", "Cookie: coverage-probe-page=\(token)", "--max-time", "2"]).status == 200
          ? () : nil
      }
    }
  }

  @Test("when the service ends while a browser follows, then it ends at once, and so does the connection")
  func ending() async throws {
    let begin = ProgressWatch()
    var follower: RunningProgram?
    try await withPage { page, token, _ async throws -> Void in
      let curl = try Self.curl(["-N", page + "/events", "-H", "Cookie: coverage-probe-page=\(token)"])
      _ = try await eventually("it follows") { curl.standardOutput.contains("event: status") ? () : nil }
      follower = curl
    }
    #expect(begin.passed < .seconds(30))
    let status = try await follower?.exitStatus()
    #expect(status != nil && status != 28, "28: curl's own limit")
  }

  @Test("when the page's address is not the host's, then one line says so, and the service works without the page")
  func noAddress() async throws {
    try await ServiceRig.run("agent: { record: command, page: \"203.0.113.7:8088\" }") { rig in
      _ = try await eventually("the line") { rig.log.contains("no live page at 203.0.113.7:8088: ") ? () : nil }
      #expect(try await rig.client.send(.pause) == "pause: not recording (paused)")
    }
  }

  // MARK: The stream of a store

  private struct Idle: ServiceCommands {
    func status() async -> ServiceStatus { ServiceStatus(started: .sampleStart) }
    func perform(_ command: ServiceCommand) async -> String { "" }
    func submit(_ mode: PassMode, _ urgency: ServerGate.Urgency) async -> (line: String, outcome: CommandOutcome) {
      ("", .done)
    }
    func forget(_ target: ForgetTarget) async -> (line: String, outcome: CommandOutcome) { ("", .done) }
  }

  private struct Enough: Error {}

  /// The events up to the first state.
  private func stream(_ store: DriveStore, after last: Int64?) async throws -> String {
    var text = ""
    do {
      try await PageStream(service: Idle(), store: store).run(after: last) { bytes in
        text += String(decoding: bytes, as: UTF8.self)
        if text.contains("event: status") { throw Enough() }
      }
    } catch is Enough {}
    return text
  }

  /// Adds a speed test in each drive, and one without a drive.
  private func addTests(_ store: DriveStore) async throws {
    for (uuid, drive, second) in [("T1", 1, 10), ("T2", 2, 1010), ("T3", nil, 1020)] as [(String, Int64?, Int)] {
      var start = SpeedTestOutbox.Start(
        controlServer: "http://host", clientUUID: "C", testUUID: uuid, token: "t",
        started: .sampleStart.later(by: .seconds(second)))
      start.drive = drive
      _ = try await store.speedTests.begin(start)
    }
  }

  @Test("when a speed test changes while a browser follows, then it is sent again, and only then")
  func changingTest() async throws {
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    let id = try await store.speedTests.begin(
      .init(controlServer: "http://host", clientUUID: "C", testUUID: "T", token: "t", started: .sampleStart))
    var (states, seconds) = ([String](), 0)
    do {
      try await PageStream(service: Idle(), store: store).run(after: nil) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix("event: tests") { states += text.matches(of: /"state":"([a-z]+)"/).map { String($0.1) } }
        guard text.contains("event: status") else { return }
        seconds += 1
        let time = WallTime.sampleStart.later(by: .seconds(seconds))
        switch seconds {
        case 2: try await store.speedTests.end(id, .init(.completed, at: time, figures: .sample()))
        case 3: try await store.speedTests.markSubmitted(id, .result, at: time)
        case 5: throw Enough()
        default: break
        }
      }
    } catch is Enough {}
    #expect(states == ["measuring", "waiting", "submitted"])
  }

  @Test(
    "when a store has two drives, then a new follower gets the newest drive's fences; a returning one those that it lacks"
  )
  func drives() async throws {
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    #expect(!(try await stream(store, after: nil)).contains("event: fences"), "there is no drive")
    for drive in 0..<2 {
      var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(drive * 1000)), log: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start)],
        fences: (0..<3).map { .sample(number: $0, entered: Double($0) * 4, lasted: drive == 1 && $0 == 2 ? nil : 4) },
        seen: .seconds(60))
    }
    func ids(_ text: String) -> [String] { text.matches(of: /"id":\[([0-9,]*)\]/).map { String($0.1) } }
    let new = try await stream(store, after: nil)
    #expect(ids(new) == ["4,5"] && new.contains("id: 5\n"), "the open fence is not sent: \(new.prefix(200))")
    #expect(ids(try await stream(store, after: 2)) == ["3,4,5"])
    func distances(_ text: String) -> [String] {
      text.matches(of: /"distance_m":\[([^\]]*)\]/).flatMap { $0.1.split(separator: ",").map(String.init) }
    }
    let (all, rest) = (distances(new), distances(try await stream(store, after: 4)))
    #expect(all.count == 2 && all.last != "null" && rest == [all.last])
    let others = distances(try await stream(store, after: 2))
    #expect(others.count == 3 && others[0] == all.last && others[1] == "null", "joined within its drive only")
    #expect(ids(try await stream(store, after: 5)).isEmpty)
    try await addTests(store)
    func tests(_ text: String) -> [String] { text.matches(of: /"test_uuid":"(T[0-9]+)"/).map { String($0.1) } }
    #expect(tests(try await stream(store, after: nil)) == ["T2", "T3"], "those of the newest drive, and later ones")
    #expect(tests(try await stream(store, after: 5)) == ["T2", "T3"], "again after a broken connection")
    #expect(tests(try await stream(store, after: 2)) == ["T1", "T2", "T3"], "from the drive of the last fence on")
    #expect(!(try await stream(store, after: 5)).contains("event: tests\nid:"), "the place of the fences stays")
    let other = try await stream(store, after: 900)
    #expect(other.contains("event: reset\nid: 0\n") && ids(other) == ["4,5"], "the store is another one")
  }
}
