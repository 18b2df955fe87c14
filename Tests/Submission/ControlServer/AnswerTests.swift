import Coverage
import Foundation
import TestSupport
import Testing

@testable import Submission

/// Answer bodies of a server, of a damaged server and of an impostor (docs/protocol.md, 3).
struct AnswerTests {
  private static let whole: [String: any Sendable] = [
    "test_uuid": "T", "ping_token": "aOd4ALM2UBOl/LOaoRW9UA==", "ping_host": "udp4.example.test", "ping_port": 444,
  ]

  private func grant(_ key: String, _ value: String) throws -> CoverageGrant {
    let others = Self.whole.filter { $0.key != key }
    let text = String(decoding: try JSONSerialization.data(withJSONObject: others), as: UTF8.self)
    return try CoverageGrant(Data((text.dropLast() + ",\"\(key)\":\(value)}").utf8))
  }

  // MARK: Grants

  @Test(
    "when ping_port is no port, then the answer is refused",
    arguments: ["0", "-1", "65536", "444.5", "\"\"", "\"444 \"", "\"0x1BC\"", "1e2000", "true", "null", "[444]", "{}"])
  func wrongPort(value: String) {
    #expect(throws: ServerFailure.self) { try grant("ping_port", value) }
  }

  @Test(
    "when a name in the answer could forge log lines or move the cursor, then the answer is refused",
    arguments: ["test_uuid", "ping_host"])
  func controls(key: String) {
    for text in ["a\\nb", "\\u001b[2J", "a\\u202eb", String(repeating: "x", count: 300)] {
      #expect(throws: ServerFailure.self) { try grant(key, "\"\(text)\"") }
    }
  }

  @Test("when the text of a refusal has control characters, then spaces replace them, and a long text is cut")
  func hostileText() throws {
    let text = "\\u001b[2J\\nFAKE\\u202e" + String(repeating: "x", count: 1000)
    for (status, body) in [
      (400, "{\"error\":[\"\(text)\"]}"), (503, "{\"error\":\"\(text)\"}"), (400, "\u{1B}[2J\nFAKE\(text)"),
    ] {
      let error = #expect(throws: ServerFailure.self) {
        try ServerAnswer.body(status: status, retryAfter: nil, body: Data(body.utf8))
      }
      let line = try #require(error).description
      #expect(line.contains("FAKE") && line.unicodeScalars.count < 320, "\(line)")
      #expect(ForeignText.clean(line, limit: 400) == line, "\(line)")
    }
  }

  @Test(
    "when the entries of a refusal are no texts, then the line has their JSON",
    arguments: [
      (#"[{"code":7,"at":"a/b"}]"#, #"{"at":"a/b","code":7}"#),
      (#"{"b":[1,null],"a":true}"#, #"{"a":true,"b":[1,null]}"#),
      (#"["x",7,false,null,1.5]"#, "x; 7; false; null; 1.5"),
      ("7", "7"), ("[[]]", "[]"),
    ])
  func structuredErrors(error: String, expected: String) {
    #expect(throws: ServerFailure.refused(status: 200, message: expected)) {
      try ServerAnswer.body(status: 200, retryAfter: nil, body: Data(#"{"error":\#(error)}"#.utf8))
    }
  }

  @Test("when ping_port is at an end of its range, then it is accepted")
  func ports() throws {
    #expect(try grant("ping_port", "1").pingPort == 1)
    #expect(try grant("ping_port", "65535").pingPort == 65_535)
    #expect(try grant("ping_port", "\"65535\"").pingPort == 65_535)
  }

  @Test(
    "when the token is not Base64 of 16 bytes, then the answer is refused, and the token is not in the message",
    arguments: [
      "\"aOd4ALM2UBOl/LOaoRW9\"", "\"aOd4ALM2UBOl/LOaoRW9UAAA\"", "\"aOd4ALM2UBOl_LOaoRW9UA==\"", "\"no token\"", "16",
    ])
  func wrongToken(value: String) throws {
    let error = #expect(throws: ServerFailure.self) { try grant("ping_token", value) }
    #expect(!"\(try #require(error))".contains("aOd4"))
  }

  @Test(
    "when a text member that pings need has another type, then the answer is refused, and the failure names the cause",
    arguments: ["test_uuid", "ping_host"])
  func wrongType(key: String) {
    for value in ["1", "[]", "{}", "true"] {
      let error = #expect(throws: ServerFailure.self) { try grant(key, value) }
      #expect(error == .unusableAnswer("the answer to /coverageRequest has members of a wrong type"))
    }
  }

  @Test(
    "when ip_version is neither 4 nor 6, then it is unknown, and the grant is still accepted",
    arguments: ["5", "0", "-4", "\"v4\"", "4.5", "null"])
  func versions(value: String) throws {
    #expect(try grant("ip_version", value).ipVersion == nil)
  }

  @Test("when loop_uuid is empty or null, then the grant has no loop")
  func loops() throws {
    #expect(try grant("loop_uuid", "\"\"").loopUUID == nil)
    #expect(try grant("loop_uuid", "null").loopUUID == nil)
    #expect(try grant("loop_uuid", "\"L\"").loopUUID == "L")
    #expect(try grant("loop_uuid", "null").oddities.isEmpty)
  }

  @Test("when loop_uuid is no text, then the grant has no loop, and says so", arguments: ["1", "[]", "{}", "true"])
  func oddLoop(value: String) throws {
    let grant = try grant("loop_uuid", value)
    #expect(grant.loopUUID == nil && !grant.testUUID.isEmpty)
    #expect(grant.oddities == ["the control server's loop_uuid is no text: ignored"])
  }

  @Test(
    "when a limit is at an end of its range, then it is read as seconds, as milliseconds or not at all",
    arguments: [
      ("1", Duration.seconds(1), 0), ("999999", .seconds(999_999), 0), ("1000000", .seconds(1000), 1),
      ("1099511627775", .milliseconds(1_099_511_627_775), 1), ("1099511627776", nil, 1), ("-1", nil, 1), ("0", nil, 1),
      ("9223372036854775807", nil, 1), ("1e400", nil, 1), ("\"soon\"", nil, 1), ("null", nil, 0),
    ] as [(String, Duration?, Int)])
  func limits(value: String, expected: Duration?, oddities: Int) throws {
    // A number beyond all doubles is no JSON number to some readers.
    guard let grant = try? grant("max_coverage_session_seconds", value) else {
      #expect(value == "1e400")
      return
    }
    #expect(grant.maximumDrive == expected)
    #expect(grant.oddities.count == oddities)
  }

  @Test("when the answer has the limit only under its older name, then that limit is used")
  func olderName() throws {
    #expect(try grant("maxCoverageSessionSeconds", "77").maximumDrive == .seconds(77))
  }

  // MARK: Registration

  @Test("when the server sends a client UUID, then it is used; otherwise the known one stays")
  func registration() throws {
    func uuid(_ body: String, known: String?) throws -> String {
      try SettingsAnswer.clientUUID(Data(body.utf8), known: known)
    }
    #expect(try uuid(#"{"settings":[{"uuid":"new"}]}"#, known: "old") == "new")
    for body in [
      #"{"settings":[{}]}"#, #"{"settings":[]}"#, "{}", #"{"settings":[{"uuid":null}]}"#, #"{"settings":"x"}"#, "[", "",
    ] {
      #expect(try uuid(body, known: "old") == "old", "\(body)")
      #expect(throws: ServerFailure.unusableAnswer("no client uuid in the answer to /settings")) {
        try uuid(body, known: nil)
      }
    }
    #expect(throws: ServerFailure.self) { try uuid(#"{"settings":[{"uuid":""}]}"#, known: nil) }
  }

  // MARK: History

  @Test("when the history has entries without a test, then they count in the page's entries, but give no items")
  func history() throws {
    let page = try HistoryPage(
      Data(
        #"""
        {"history":[{"test_uuid":"A","time":1795168800000,"fencesCount":3},{"speed":1},
        {"test_uuid":"B","time":"1795168700000","fencesCount":"4"},{"test_uuid":"C","fencesCount":-1},
        {"test_uuid":"D","time":1.5,"fencesCount":99999999999999999999},
        {"test_uuid":"E","isCoverageFences":false},{"test_uuid":"F","isCoverageFences":1}]}
        """#.utf8))
    #expect(page.entries == 7)
    #expect(
      page.items == [
        HistoryItem(testUUID: "A", time: 1_795_168_800_000, fences: 3),
        HistoryItem(testUUID: "B", time: 1_795_168_700_000, fences: 4),
        HistoryItem(testUUID: "C", time: nil, fences: -1),
        HistoryItem(testUUID: "D", time: nil, fences: nil),
        HistoryItem(testUUID: "E", time: nil, fences: 0), HistoryItem(testUUID: "F", time: nil, fences: nil),
      ])
  }

  @Test(
    "when the answer has no list of tests, then it is unusable, and not an empty history",
    arguments: [
      "{}", "[]", #"{"history":null}"#, #"{"history":{}}"#, #"{"history":[1]}"#, "", "\u{FEFF}{}",
    ])
  func noHistory(body: String) {
    #expect(throws: ServerFailure.unusableAnswer("the history in the answer cannot be read")) {
      try HistoryPage(Data(body.utf8))
    }
  }

  // MARK: Any answer

  private func failure(_ status: Int, _ bytes: [UInt8]) -> ServerFailure? {
    do throws(ServerFailure) {
      _ = try ServerAnswer.body(status: status, retryAfter: nil, body: Data(bytes))
      return nil
    } catch {
      return error
    }
  }

  @Test("when a body is nested too deeply, is cut off or is no text, then the answer is a failure, without a crash")
  func hostileBodies() {
    let bombs: [[UInt8]] = [
      Array(repeating: UInt8(ascii: "["), count: 200_000), Array(String(repeating: #"{"error":"#, count: 50_000).utf8),
      Array(#"{"test_uuid":"T""#.utf8), [0xFF, 0xFE, 0x7B, 0x00], [0], Array(#"{"a":"\ud800"}x"#.utf8),
    ]
    for bytes in bombs {
      guard case .notTheServer(200, let found) = failure(200, bytes) else {
        Issue.record("\(bytes.prefix(20))")
        continue
      }
      #expect(found.count < 120 && !found.contains("\n"))
    }
  }

  @Test(
    "when an answer with status 200 has an error member, then only an empty one makes it a success",
    arguments: [
      (#"{"error":[]}"#, true), (#"{"error":""}"#, true), (#"{"error":null}"#, true), (#"{"error":["x"]}"#, false),
      (#"{"error":"x"}"#, false), (#"{"error":[null]}"#, false), (#"{"error":{"code":1}}"#, false),
      (#"{"error":0}"#, false), (#"{"error":false}"#, false),
    ])
  func errorMembers(body: String, isSuccess: Bool) {
    #expect((failure(200, Array(body.utf8)) == nil) == isSuccess)
  }

  @Test(
    "when a status is unusual, then its class decides the outcome",
    arguments: [
      (299, "success"), (304, "redirect"), (404, "refused"), (418, "refused"), (599, "trouble"), (511, "portal"),
      (999, "trouble"),
      (100, "refused"), (0, "refused"),
    ])
  func statuses(status: Int, kind: String) {
    let kinds: [String: (ServerFailure?) -> Bool] = [
      "success": { $0 == nil },
      "portal": { if case .notTheServer(status, _) = $0 { true } else { false } },
      "redirect": { $0 == .notTheServer(status: status, found: "a redirect") },
      "refused": { if case .refused(status, _) = $0 { true } else { false } },
      "trouble": { if case .serverTrouble(status, _, _) = $0 { true } else { false } },
    ]
    #expect(kinds[kind]?(failure(status, Array("{}".utf8))) == true)
  }

  @Test("when a failure is shown, then its line has the cause, the status, the capped wait and the server's message")
  func lines() {
    #expect(
      ServerFailure.tooManyRequests(retryAfter: .seconds(90)).description
        == "the control server asks for fewer requests (429, not before 90 s)")
    #expect(
      ServerFailure.tooManyRequests(retryAfter: nil).description == "the control server asks for fewer requests (429)")
    #expect(
      ServerFailure.serverTrouble(status: 503, message: "down", retryAfter: .seconds(1_000_000)).description
        == "the control server is in trouble (503, not before 3600 s): down")
    #expect(ServerFailure.notTheServer(status: 302, found: "a redirect").description.hasSuffix("or a captive portal"))
    #expect(ServerFailure.refused(status: 400, message: "No valid loop UUID").isUnknownLoop)
    #expect(!ServerFailure.refused(status: 403, message: "No valid loop UUID").isUnknownLoop)
    #expect(!ServerFailure.refused(status: 400, message: "No valid client UUID").isUnknownLoop)
  }
}
