import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// The key of a control server: its URL without a password.
struct ServerKeyTests {
  @Test(
    "when a URL has user information, then the key is the URL without it",
    arguments: [
      ("https://user:word@host", "https://host"), ("https://user@host:8443/a?b#c", "https://host:8443/a?b#c"),
      // The last @ of the authority ends the user information.
      ("https://user:w@rd@host/", "https://host/"), ("https://@host", "https://host"),
      ("https://user:word@[::1]:8443/a", "https://[::1]:8443/a"),
      ("https://user:word@host?at=a@b", "https://host?at=a@b"), ("https://user:word@host#a@b", "https://host#a@b"),
      ("http://user:word@host", "http://host"),
    ])
  func withUser(_ url: String, _ key: String) {
    #expect(ServerKey.of(url) == key)
    #expect(ServerKey.of(key) == key, "a key is its own key")
  }

  @Test(
    "when an @ is not in the authority, then the URL is the key",
    arguments: [
      "https://host", "https://host/a@b", "https://host?a@b", "https://host#a@b", "https://host/a?b@c#d@e", "user@host",
      "", "://",
    ])
  func withoutUser(_ url: String) { #expect(ServerKey.of(url) == url) }
}
