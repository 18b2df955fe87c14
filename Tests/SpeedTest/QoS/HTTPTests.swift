import Foundation
import OrderedJSON
import Synchronization
import TestSupport
import Testing

@testable import SpeedTest

/// The fetches of QoS tests against a scripted server on loopback.
@Suite struct HTTPTests {
  private final class Web: Sendable {
    let server: ScriptedServer
    private let heads: Collected<String>

    init(_ answer: String) throws {
      let heads = Collected<String>()
      self.heads = heads
      server = try ScriptedServer { client in
        let head = client.text(to: "\r\n\r\n")
        heads.append(head)
        client.send(answer)
        // Until the client closes.
        _ = client.text()
      }
    }

    var requests: [String] { heads.all }
    var url: String { "http://127.0.0.1:\(server.port)/x" }
  }

  private static let page = "HTTP/1.1 200 OK\r\nServer: Lab/1\r\nContent-Length: 5\r\nX-B: 2\r\n\r\nhello"

  private func proxy(_ values: [String: String]) throws -> (QoSStatus, String) {
    let (status, members) = PageTest(proxy: QoSParameters(values)).result(try LoopbackPort.context())
    return (status, JSON.object(members).text)
  }

  @Test("When a page comes, then status, header, length and the MD5 of its body are the result")
  func page() throws {
    let web = try Web(Self.page)
    let (status, text) = try proxy(["url": web.url])
    #expect(status == .ok)
    #expect(
      text.contains(
        #""http_result_status":200,"http_result_header":"Server: Lab/1\nContent-Length: 5\nX-B: 2\n","#
          + #""http_result_length":5,"http_result_hash":"5d41402abc4b2a76b9719d911017c592""#))
  }

  @Test("When a page comes, then the bytes of request and answer are counted")
  func traffic() throws {
    let web = try Web(Self.page)
    let (fetch, counter) = (HTTPFetch(url: web.url, connecting: 5_000_000_000, whole: 5_000_000_000), TrafficCounter())
    _ = try fetch.run(LoopbackPort.waiting(), family: nil, traffic: counter)
    #expect(counter.traffic.received == Int64(Self.page.utf8.count))
    let request = try #require(web.requests.first)
    #expect(counter.traffic.sent == Int64(request.utf8.count) + 4, "the head, and the empty line after it")
  }

  @Test("When a range is set, then the request has it, and no cache may answer")
  func range() throws {
    let web = try Web(Self.page)
    _ = try proxy(["url": web.url, "range": "bytes=0-99"])
    let request = try #require(web.requests.first)
    #expect(request.hasPrefix("GET /x HTTP/1.1\r\n"))
    #expect(
      request.lowercased().contains("range: bytes=0-99") && request.lowercased().contains("cache-control: no-cache"))
  }

  @Test("When the server redirects, then the redirect itself is the result")
  func redirect() throws {
    let other = try Web(Self.page)
    let web = try Web("HTTP/1.1 302 Found\r\nLocation: \(other.url)\r\nContent-Length: 0\r\n\r\n")
    let (_, text) = try proxy(["url": web.url])
    #expect(text.contains(#""http_result_status":302"#))
    #expect(other.requests.isEmpty)
  }

  @Test("When the body comes in chunks, then its bytes are hashed without their frames")
  func chunked() throws {
    let web = try Web(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n")
    let (_, text) = try proxy(["url": web.url])
    #expect(text.contains(#""http_result_length":5,"http_result_hash":"5d41402abc4b2a76b9719d911017c592""#))
  }

  @Test("When the server never finishes, then the result is TIMEOUT in place of the hash, after the time limit")
  func timeout() throws {
    let web = try Web("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
    let (start, watch) = (LoopbackPort.now(), ProgressWatch())
    let (status, text) = try proxy(["url": web.url, "download_timeout": "300000000"])
    #expect(status == .timeout)
    #expect(text.contains(#""http_result_hash":"TIMEOUT""#))
    #expect(LoopbackPort.now() - start >= 300_000_000 && watch.passed < .seconds(10))
  }

  @Test(
    "When a URL cannot be fetched, then the result is ERROR, and files and sockets of this host are not touched",
    arguments: [
      "", "x", "http://", "ftp://127.0.0.1/", "unix:///run/x", "http+unix://%2Frun%2Fx/", "file:///etc/passwd",
    ])
  func impossible(url: String) throws {
    let (status, text) = try proxy(["url": url])
    #expect(status == .error)
    #expect(text.contains(#""http_result_hash":"ERROR""#))
  }

  @Test("When the port is closed, or the answer is not HTTP, then the result is ERROR")
  func unreachable() throws {
    #expect(try proxy(["url": "http://127.0.0.1:\(try LoopbackPort.free())/"]).0 == .error)
    #expect(try proxy(["url": try Web("RMBTv1.3.5\nACCEPT TOKEN QUIT\n\n").url]).0 == .error)
  }

  @Test("When a range would break the request, then nothing is sent")
  func injection() throws {
    let web = try Web(Self.page)
    #expect(try proxy(["url": web.url, "range": "bytes=0-1\r\nX-Evil: 1"]).0 == .error)
    #expect(web.requests.isEmpty)
  }

  @Test("When a website is tested, then the result says that it was a plain fetch")
  func website() throws {
    let web = try Web(Self.page)
    let (status, members) = PageTest(website: QoSParameters(["url": web.url])).result(try LoopbackPort.context())
    #expect(status == .ok)
    let text = JSON.object(members).text
    #expect(text.contains(#""website_result_info":"OK","website_result_status":"200""#))
    #expect(text.contains(#""website_result_rx_bytes":5,"website_result_method":"plain fetch""#))
    let (failed, other) = PageTest(website: QoSParameters(["url": "x"])).result(try LoopbackPort.context())
    #expect(failed == .error)
    #expect(JSON.object(other).text.contains(#""website_result_info":"ERROR","website_result_method":"plain fetch""#))
  }

  @Test("When the family is forced, then the name is resolved in it, and an address of the other family is an error")
  func family() throws {
    let web = try Web(Self.page)
    let fetch = HTTPFetch(
      url: "http://localhost:\(web.server.port)/x", connecting: 5_000_000_000, whole: 5_000_000_000)
    #expect(try fetch.run(LoopbackPort.waiting(), family: .ipv4).status == 200)
    #expect(web.requests.first?.contains("localhost") == true)
    let numeric = HTTPFetch(url: web.url, connecting: 5_000_000_000, whole: 5_000_000_000)
    let error = #expect(throws: SpeedTestError.self) { try numeric.run(LoopbackPort.waiting(), family: .ipv6) }
    #expect(error?.unresolvedName == "127.0.0.1")
  }
}
