import Foundation
import TestSupport
import Testing

@testable import Submission

/// Answers that are no control server's, as broken proxies, portals and other programs send them.
struct StubbornAnswerTests {
  /// The failure of a request whose connection gets `answer`, piece by piece.
  private func failure(
    _ answer: [UInt8], scheme: String = "http", within limit: Duration = .seconds(20),
    then rest: @escaping @Sendable (ScriptedServer.Client) -> Void = { _ in }
  ) async throws -> ServerFailure {
    let server = try ScriptedServer { client in
      // A head, or the first message of a TLS handshake.
      _ = scheme == "http" ? client.text(to: "\r\n\r\n").isEmpty : client.bytes().isEmpty
      client.send(answer)
      rest(client)
      client.finish()
    }
    let url = "\(scheme)://127.0.0.1:\(server.port)"
    let failure = await #expect(throws: ServerFailure.self) {
      try await ClientSlowTests().withClient(of: url, timeout: limit) { try await $0.settings(clientUUID: nil) }
    }
    return try #require(failure)
  }

  @Test(
    "when the status is none of HTTP, then the request fails with the reason, and the process goes on",
    arguments: ["099", "000", "1", "999", "12345", "-5", "abc", ""])
  func status(status: String) async throws {
    let failure = try await failure(Array("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\n{}".utf8))
    switch failure {
    case .unusableAnswer(let text): #expect(text.contains("its answer is no valid HTTP"), "\(text)")
    case .serverTrouble(status: 999, _, _): break
    default: Issue.record("\(failure)")
    }
  }

  @Test("when an answer drips, then the limit ends the request, in its head as in its body", arguments: [true, false])
  func drips(isBody: Bool) async throws {
    let begin = ProgressWatch()
    let head = "HTTP/1.1 200 OK\r\n" + (isBody ? "Content-Length: 100000\r\n\r\n" : "X: ")
    let failure = try await failure(Array(head.utf8), within: .milliseconds(300)) { client in
      while client.send([0x20]) { usleep(10_000) }
    }
    guard case .noAnswer(let text, _) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(text.hasSuffix("no answer within 0.3 seconds"), "\(text)")
    #expect(begin.passed < .seconds(10))
  }

  @Test(
    "when the connection ends within the body, then the failure says after how many bytes",
    arguments: [
      ("Content-Length: 100\r\n\r\n{\"a\":", "after 5 of 100 bytes of the body"),
      ("Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n", "after 5 bytes of the body"),
      ("Transfer-Encoding: chunked\r\n\r\n9\r\n{\"a\":", "after 5 bytes of the body"),
      ("Content-Length: 100\r\n\r\n", "after 0 of 100 bytes of the body"),
    ])
  func brokenOff(rest: String, words: String) async throws {
    let failure = try await failure(Array("HTTP/1.1 200 OK\r\n\(rest)".utf8))
    guard case .noAnswer(let text, mayHaveNetwork: _) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(text.hasSuffix("the connection ended within its answer, \(words)"), "\(text)")
  }

  @Test("when an answer has 5 MB, then the failure says so, with its status")
  func long() async throws {
    let failure = try await failure(Array("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n".utf8)) { client in
      client.send([UInt8](repeating: 0x61, count: 5_000_000))
    }
    guard case .notTheServer(status: 200, let found) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(found.hasPrefix("an answer of more than 4 MiB, a body that begins with \"aaaa"), "\(found)")
  }

  @Test("when an answer is compressed, then it is read as any other")
  func compressed() async throws {
    let body = try #require(Gzip.compressed(Array(#"{"settings":[{"uuid":"C1"}]}"#.utf8)))
    let head = Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
    let server = try ScriptedServer { client in
      _ = client.text(to: "\r\n\r\n")
      client.send(head + body)
      client.finish()
    }
    let uuid = try await ClientSlowTests().withClient(of: "http://127.0.0.1:\(server.port)") {
      try await $0.settings(clientUUID: nil)
    }
    #expect(uuid == "C1")
  }

  @Test("when the other side is of another protocol, then the failure names it at once")
  func protocols() async throws {
    let waits: @Sendable (ScriptedServer.Client) -> Void = { client in while !client.bytes().isEmpty {} }
    for (answer, scheme, words) in [
      ("SSH-2.0-OpenSSH_9.2\r\n", "http", "it does not speak HTTP there: its answer begins with \"SSH-2.0-OpenSSH_9.2"),
      ("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{46}", "http", "it speaks TLS there; is control-server.url an https:// one?"),
      ("SSH-2.0-OpenSSH_9.2\r\n", "https", "it does not speak TLS there; is control-server.url an http:// one?"),
      ("HTTP/1.1 400 Bad Request\r\n\r\n", "https", "it does not speak TLS there"),
    ] {
      let failure = try await failure(Array(answer.utf8), scheme: scheme, then: waits)
      #expect("\(failure)".contains(words), "\(failure)")
    }
    let closed = try await failure([])
    #expect("\(closed)".contains("if it expects TLS, control-server.url must be an https:// one"), "\(closed)")
  }

  @Test("when a server answers that the request should have come by TLS, then the failure says so")
  func plainToSecure() async throws {
    let page = "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>"
    let failure = try await failure(
      Array("HTTP/1.1 400 Bad Request\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)".utf8))
    #expect(
      "\(failure)".contains("a server that expects TLS: control-server.url must be an https:// one"), "\(failure)")
  }

  @Test("when the server refuses the TLS handshake, then the failure has OpenSSL's reason, and nothing was sent")
  func alert() async throws {
    // The alert 40, `handshake_failure`.
    let failure = try await failure([0x15, 3, 3, 0, 2, 2, 40], scheme: "https") { client in
      while !client.bytes().isEmpty {}
    }
    guard case .unreachable(let text, _, _) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(text.hasSuffix("the TLS handshake failed (sslv3 alert handshake failure)"), "\(text)")
  }
}
