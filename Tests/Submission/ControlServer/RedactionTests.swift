import Testing

@testable import Submission

/// Secrets that servers echo must not reach logs or the store.
struct RedactionTests {
  private static let uuid = "0b1f7a52-0c56-4f4a-9d1e-5a3a4d1e9001"

  private func redacted(_ text: String, of client: String? = uuid) -> String {
    Redaction(clientUUID: client).apply(to: text)
  }

  @Test(
    "when the client UUID appears in any spelling, then it is replaced, and the words around it stay",
    arguments: [
      uuid, uuid.uppercased(), uuid.replacing("-", with: ""), uuid.replacing("-", with: "_"),
      "0B1F7A520c564f4a9D1E-5a3a4d1e9001",
    ])
  func client(form: String) {
    #expect(redacted("no client \(form), sorry") == "no client (this device's), sorry")
  }

  @Test("when another UUID is in the text, then it stays: it is no secret")
  func others() {
    let text = "no test 11111111-2222-3333-4444-555555555555"
    #expect(redacted(text) == text)
    #expect(redacted(text, of: nil) == text)
  }

  @Test("when the client UUID is empty, short or full of special characters, then ordinary words are not replaced")
  func shortClients() {
    for client in ["", "a", "error", "-------", ".*", "[a-z]+", "(((((((((", "\\"] {
      #expect(redacted("an error (1) in [test] .*", of: client) == "an error (1) in [test] .*", "\(client)")
    }
  }

  @Test(
    "when a token is in the text, then it is hidden, and its name stays",
    arguments: [
      (#"{"ping_token":"aOd4ALM2UBOl/LOaoRW9UA=="}"#, #"{"ping_token":"(hidden)"}"#),
      ("token=abc&x=1", "token=(hidden)&x=1"), ("Token : abc, x", "Token : (hidden), x"),
      ("test 11111111-2222-3333-4444-555555555555_1700000000_a+b/c= failed", "test (hidden) failed"),
      ("aOd4ALM2UBOl/LOaoRW9UA== is old", "(hidden) is old"), (#"aOd4ALM2UBOl\/LOaoRW9UA== is old"#, "(hidden) is old"),
      (#"{\"ping_token\":\"aOd4ALM2UBOl\/LOaoRW9UA==\"}"#, #"{\"ping_token\":\"(hidden)\"}"#),
      (#"{\"ping_token\":\"aOd4ALM2UBOl\\\/LOaoRW9UA==\"}"#, #"{\"ping_token\":\"(hidden)\"}"#),
      (#"aOd4ALM2UBOl\\\/LOaoRW9UA== is old"#, "(hidden) is old"),
    ])
  func tokens(text: String, expected: String) {
    #expect(redacted(text) == expected)
  }

  @Test(
    "when a text only looks like a token, then it stays",
    arguments: ["no tokens left", "the ping port is 444", "QUJD==", "1795168800000"])
  func noTokens(text: String) {
    #expect(redacted(text) == text)
  }

  @Test(
    "when a URL has a user and a password, then it is shown without them",
    arguments: [
      ("https://user:secret@host/x", "https://host/x"), ("https://user@host", "https://host"),
      ("http://a:b@c@host:1/x?y=z@w", "http://host:1/x?y=z@w"), ("https://host/x@y", "https://host/x@y"),
      ("https://host?x=a@b", "https://host?x=a@b"), ("host", "host"),
    ])
  func urls(url: String, shown: String) {
    #expect(Redaction.shown(url) == shown)
  }
}
