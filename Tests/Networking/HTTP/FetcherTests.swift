import Foundation
import TestSupport
import Testing

@testable import Networking

/// Transfers against scripted servers on loopback.
struct FetcherTests {
  private let fetcher = Fetcher()

  /// A server that reads a head and answers `bytes`; then it closes, or waits for the client to close.
  private func server(_ bytes: [UInt8], closes: Bool = true) throws -> ScriptedServer {
    try ScriptedServer { client in
      _ = client.text(to: "\r\n\r\n")
      client.send(bytes)
      if !closes { while !client.bytes().isEmpty {} }
    }
  }

  private func fetch(
    _ answer: String, closes: Bool = true, _ change: (inout FetchRequest) -> Void = { _ in }
  ) async throws -> FetchAnswer {
    try await fetch(Array(answer.utf8), closes: closes, change)
  }

  private func fetch(
    _ answer: [UInt8], closes: Bool = true, _ change: (inout FetchRequest) -> Void = { _ in }
  ) async throws -> FetchAnswer {
    let server = try server(answer, closes: closes)
    var request = FetchRequest(url: "http://127.0.0.1:\(server.port)/x", limit: .seconds(20))
    change(&request)
    return try await fetcher.fetch(request)
  }

  private func failure(of request: FetchRequest) async throws -> FetchFailure {
    try #require(await #expect(throws: FetchFailure.self) { try await fetcher.fetch(request) })
  }

  private func cause(of answer: [UInt8], closes: Bool = true) async throws -> FetchFailure.Cause {
    let failure = await #expect(throws: FetchFailure.self) { try await fetch(answer, closes: closes) }
    return try #require(failure).cause
  }

  @Test("when a server answers, then status, headers and body are those of the last head, without trailers")
  func answer() async throws {
    let answer = try await fetch(
      "HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nDate:  x \r\nX-B: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "2\r\nhe\r\n3\r\nllo\r\n0\r\nX-Trailer: 3\r\n\r\n")
    #expect(answer.status == 200)
    #expect(answer.headers.map(\.name) == ["Date", "X-B", "Transfer-Encoding"])
    #expect(answer.header("date") == "x" && answer.header("X-A") == nil)
    #expect(answer.body == Data("hello".utf8))
  }

  @Test(
    "when a status is below 100 or no number, then the failure says so and the process goes on",
    arguments: [
      "HTTP/1.1 099 X", "HTTP/1.1 000 X", "HTTP/1.1 1 X", "HTTP/1.1 -99 X", "HTTP/1.1 99999999999999999999 X",
      "HTTP/1.1  X", "HTTP/1.1", "HTTP/9.9 200 X", "HTTP/1.1 0x1F X", "HTTP/1.1 100\u{0} X",
    ])
  func status(line: String) async throws {
    let failure = await #expect(throws: FetchFailure.self) {
      try await fetch(line + "\r\nContent-Length: 2\r\n\r\n{}")
    }
    #expect(failure?.cause != .timeout, "\(String(describing: failure))")
  }

  @Test(
    "when another protocol answers, then the failure comes at once, with its first bytes",
    arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{46}", "220 mail ESMTP\r\n", "abc"])
  func otherProtocol(bytes: String) async throws {
    #expect(try await cause(of: Array(bytes.utf8), closes: false) == .otherProtocol(Array(bytes.utf8)))
  }

  @Test(
    "when bytes drip, in the head or in the body, then the limit ends the whole transfer", arguments: [true, false])
  func drips(isBody: Bool) async throws {
    let server = try ScriptedServer { client in
      _ = client.text(to: "\r\n\r\n")
      client.send(isBody ? "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" : "HTTP/1.1 200 OK\r\nX: ")
      while client.send([0x20]) { usleep(20_000) }
    }
    let begin = ProgressWatch()
    let failure = await #expect(throws: FetchFailure.self) {
      try await fetcher.fetch(FetchRequest(url: "http://127.0.0.1:\(server.port)/", limit: .milliseconds(300)))
    }
    #expect(failure?.cause == .timeout)
    #expect(begin.passed < .seconds(5))
  }

  @Test("when an answer is longer than permitted, then its begin and its status are the answer")
  func long() async throws {
    let body = String(repeating: "a", count: 300_000)
    let answer = try await fetch("HTTP/1.1 503 X\r\nContent-Length: 300000\r\n\r\n\(body)") { $0.longestBody = 1000 }
    #expect(answer.status == 503 && answer.isCutOff && answer.body.count == 1000)
  }

  @Test("when a head never ends, then the transfer does")
  func endlessHead() async throws {
    let server = try ScriptedServer { client in
      _ = client.text(to: "\r\n\r\n")
      client.send("HTTP/1.1 200 OK\r\n")
      while client.send(Array("X-A: \(String(repeating: "b", count: 1000))\r\n".utf8)) {}
    }
    let failure = await #expect(throws: FetchFailure.self) {
      try await fetcher.fetch(FetchRequest(url: "http://127.0.0.1:\(server.port)/", limit: .seconds(20)))
    }
    #expect(failure?.cause == .malformed("a head of more than 256 KiB"))
  }

  /// `{"a":1}` by gzip(1).
  private static let gzipped: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 74, 84, 178, 50, 172, 5, 0, 175, 172, 27, 86, 7, 0, 0, 0,
  ]

  @Test("when an answer is compressed, then its body is decoded; a damaged one is no answer")
  func compressed() async throws {
    let head = Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(Self.gzipped.count)\r\n\r\n".utf8)
    #expect(try await fetch(head + Self.gzipped).body == Data(#"{"a":1}"#.utf8))
    var damaged = Self.gzipped
    damaged[0] = 0
    guard case .malformed = try await cause(of: head + damaged) else { return #expect(Bool(false)) }
  }

  @Test("when a kept connection ends without an answer, then the request is not repeated: the server may have had it")
  func noRepetition() async throws {
    let requests = Collected<String>()
    let server = try ScriptedServer { client in
      while true {
        let head = client.text(to: "\r\n\r\n")
        guard !head.isEmpty else { return }
        requests.append(head)
        guard requests.all.count == 1 else { return }
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      }
    }
    var request = FetchRequest(url: "http://127.0.0.1:\(server.port)/", limit: .seconds(20))
    request.body = [0x7B, 0x7D]
    #expect(try await fetcher.fetch(request).status == 200)
    let failure = try await failure(of: request)
    #expect(failure.mayHaveArrived)
    #expect(requests.all.count == 2)
  }

  @Test(
    "when a header or the URL has control characters, then nothing is sent", arguments: ["a\r\nX-Evil: 1", "a\u{0}b"])
  func controls(text: String) async throws {
    let requests = Collected<String>()
    let server = try ScriptedServer { requests.append($0.text(to: "\r\n\r\n")) }
    var request = FetchRequest(url: "http://127.0.0.1:\(server.port)/", limit: .seconds(20))
    request.headers = ["Range": text]
    let failure = try await failure(of: request)
    #expect(failure == FetchFailure(.refused("a request with control characters")))
    #expect(requests.all.isEmpty)
  }

  @Test("when the task is cancelled, then the request ends at once; so it does when its fetcher has none running")
  func cancelled() async throws {
    let arrived = Collected<String>()
    let server = try ScriptedServer { client in
      arrived.append(client.text(to: "\r\n\r\n"))
      _ = client.bytes()
    }
    let request = FetchRequest(url: "http://127.0.0.1:\(server.port)/", limit: .seconds(60))
    let task = Task { try await fetcher.fetch(request) }
    _ = try await eventually("the request") { arrived.all.isEmpty ? nil : () }
    task.cancel()
    let failure = await #expect(throws: FetchFailure.self) { try await task.value }
    #expect(failure?.cause == .cancelled && failure?.mayHaveArrived == true)
  }

  @Test("when a request is bound to an interface or a version that is not there, then nothing is sent")
  func bound() async throws {
    let server = try server(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
    var request = FetchRequest(url: "http://127.0.0.1:\(server.port)/", limit: .seconds(20))
    request.connection = .fresh(interface: "lo")
    #expect(try await fetcher.fetch(request).status == 200)
    request.connection = .fresh(interface: "none0")
    let absent = try await failure(of: request)
    #expect(absent == FetchFailure(.interface("none0", ENODEV)))
    request.connection = .fresh(version: .ipv6)
    let other = try await failure(of: request)
    #expect(other.cause == .noAddress(host: "127.0.0.1") && !other.mayHaveArrived)
  }
}
