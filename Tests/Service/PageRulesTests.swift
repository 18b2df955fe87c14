import Foundation
import Networking
import TestSupport
import Testing

@testable import Service
@testable import Settings

/// Access to the live page: tokens, cookies, hosts and origins.
struct PageRulesTests {
  private static let text = String(repeating: "a1", count: 16)
  private static let token = PageToken(text)

  // MARK: Token

  @Test("when a token is made, then only the service's user can read its file, and no two tokens are equal")
  func making() throws {
    let folder = try TemporaryFolder()
    #expect(PageToken(directory: folder.path) == nil)
    let first = try PageToken(renewedIn: folder.path)
    #expect(PageToken(directory: folder.path) == first)
    let second = try PageToken(renewedIn: folder.path)
    #expect(second != first && PageToken(directory: folder.path) == second)
    let mode = try FileManager.default.attributesOfItem(atPath: folder.file("page-token"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["page-token"], "nothing temporary is left")
  }

  @Test(
    "when root makes a token, then its file belongs to the directory's owner, so that the service can read it",
    .enabled(if: geteuid() == 0, "needs root"))
  func owner() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.setAttributes(
      [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534], ofItemAtPath: folder.path)
    _ = try PageToken(renewedIn: folder.path)
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("page-token"))
    #expect(attributes[.ownerAccountID] as? Int == 65_534 && attributes[.groupOwnerAccountID] as? Int == 65_534)
  }

  @Test(
    "when the token file is malformed, then there is no token",
    arguments: [
      "", "\n", "short", String(repeating: "A", count: 32), String(repeating: "a", count: 33),
      String(repeating: "ä", count: 32), "\0",
    ])
  func damaged(content: String) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(content, to: "page-token")
    #expect(PageToken(directory: folder.path) == nil)
  }

  @Test("when the directory cannot be written, then the error has the system's reason")
  func unwritable() { #expect(throws: POSIXError.self) { try PageToken(renewedIn: "/nonexistent") } }

  @Test("when texts are compared, then only the whole token matches")
  func matching() throws {
    let token = try #require(Self.token)
    #expect(token.matches(Self.text))
    for other in [
      "", "a1", Self.text + "a", String(Self.text.dropLast()), String(Self.text.dropLast()) + "2",
      Self.text.uppercased(),
    ] {
      #expect(!token.matches(other))
    }
  }

  // MARK: Requests

  private func check(_ change: (inout PageGuard.Asked) -> Void) throws -> PageGuard.Verdict {
    var asked = PageGuard.Asked(host: "192.168.8.1:8088", cookie: Self.text)
    change(&asked)
    return PageGuard(names: ["localhost", "box", "box.local"]).check(asked, by: Self.token)
  }

  private func isRefused(_ change: (inout PageGuard.Asked) -> Void) throws -> Bool {
    if case .refuse = try check(change) { true } else { false }
  }

  @Test("when a browser has the cookie, then it gets the page; without it, or with another one, it does not")
  func cookie() throws {
    #expect(try check { _ in } == .answer)
    #expect(
      try isRefused { $0.cookie = nil } && isRefused { $0.cookie = "" } && isRefused { $0.cookie = Self.text + "x" })
  }

  @Test("when there is no token, then every request is refused, with any link or cookie")
  func withoutToken() throws {
    let rules = PageGuard(names: ["box"])
    for asked in [
      PageGuard.Asked(host: "box", cookie: Self.text), .init(host: "box", link: Self.text),
      .init(host: "box", cookie: ""),
      .init(host: "box", link: ""), .init(isCommand: true, host: "box", isMarked: true, cookie: Self.text),
    ] {
      guard case .refuse = rules.check(asked, by: nil) else {
        Issue.record("\(asked) has access")
        continue
      }
    }
  }

  @Test(
    "when a link has the token, then the browser is admitted; a link with an old token is refused, even with the cookie"
  )
  func link() throws {
    #expect(try check { ($0.cookie, $0.link) = (nil, Self.text) } == .admit(try #require(Self.token)))
    #expect(try isRefused { $0.link = "old" })
    #expect(try isRefused { ($0.isCommand, $0.cookie, $0.link) = (true, nil, Self.text) }, "a link admits no command")
  }

  @Test(
    "when the Host header names this host, then the request is answered",
    arguments: [
      "127.0.0.1", "127.0.0.1:8088", "[::1]:8088", "[fe80::1]", "localhost:1", "box", "BOX.local:8088", "10.0.0.7:80",
    ])
  func ownHosts(host: String) throws { #expect(try check { $0.host = host } == .answer) }

  @Test(
    "when the Host header names another host, then the request is refused, even with the cookie",
    arguments: [
      "evil.example", "evil.example:8088", "127.0.0.1.evil.example", "box.evil", "", ":8088", "[::1", "[evil]", "1.2.3",
      nil,
    ])
  func otherHosts(host: String?) throws { #expect(try isRefused { $0.host = host }) }

  @Test(
    "when a command comes from the page, then it is accepted; from another origin or without the mark, it is refused")
  func commands() throws {
    func command(_ change: (inout PageGuard.Asked) -> Void) throws -> PageGuard.Verdict {
      try check { asked in
        (asked.isCommand, asked.isMarked, asked.origin) = (true, true, "http://192.168.8.1:8088")
        change(&asked)
      }
    }
    #expect(try command { _ in } == .answer)
    let changes: [(inout PageGuard.Asked) -> Void] = [
      { $0.isMarked = false }, { $0.origin = nil }, { $0.origin = "null" }, { $0.origin = "http://192.168.8.1" },
      { $0.origin = "https://192.168.8.1:8088" }, { $0.origin = "http://evil.example" }, { $0.cookie = nil },
      { $0.host = "evil.example" },
    ]
    for change in changes { #expect(try command(change) != .answer) }
  }

  // MARK: Address

  @Test(
    "when a text is an address with a port, then it is read",
    arguments: [
      ("127.0.0.1:8088", "127.0.0.1", 8088), ("[::1]:1", "::1", 1), ("0.0.0.0:65535", "0.0.0.0", 65535),
      ("[::]:80", "::", 80), ("192.168.8.1:80", "192.168.8.1", 80),
    ] as [(String, String, UInt16)])
  func addresses(text: String, host: String, port: UInt16) throws {
    let address = try #require(Setting.numericPlace(text))
    #expect(address.host == host && address.port == port && "\(address)" == text)
  }

  @Test(
    "when a text is no address with a port, then it is refused",
    arguments: [
      "", ":", "8088", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+8",
      "localhost:8088", "::1:8088",
      "[::1]", "[::1:80", "127.0.0.1:80 ", "[127.0.0.1]:80", "256.0.0.1:80", "127.0.0.1:８０",
      "[fe80::1%1]:80",
    ])
  func noAddresses(text: String) { #expect(Setting.numericPlace(text) == nil) }

  // MARK: Link

  @Test("when a page is set, then its link has the token of the state directory; renewing makes another one")
  func links() throws {
    let folder = try TemporaryFolder()
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = folder.path
    #expect(throws: CommandFailure.self) { try PageLink.lines(configuration, renew: false) }
    configuration.agent.page = HostPort("127.0.0.1:8088")
    let first = try PageLink.lines(configuration, renew: false)
    #expect(first.count == 1 && first[0].wholeMatch(of: /http:\/\/127\.0\.0\.1:8088\/\?token=[a-z0-9]{32}/) != nil)
    #expect(try PageLink.lines(configuration, renew: false) == first)
    #expect(try PageLink.lines(configuration, renew: true) != first)
    configuration.agent.page = HostPort("0.0.0.0:8088")
    #expect(try PageLink.lines(configuration, renew: false).first?.contains("//0.0.0.0") == false)
    _ = try folder.write("damaged", to: "page-token")
    let error = #expect(throws: CommandFailure.self) { try PageLink.lines(configuration, renew: false) }
    #expect(error?.description.contains("--renew") == true)
    configuration.stateDirectory = "/nonexistent"
    #expect(throws: CommandFailure.self) { try PageLink.lines(configuration, renew: true) }
  }
}
