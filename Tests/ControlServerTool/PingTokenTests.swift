import Testing

@testable import control_server

/// The vectors were computed independently of this code.
@Suite struct PingTokenTests {
  @Test(arguments: [
    // address, bytes 12–15 as hex, Base64 of the whole
    ("192.0.2.10", "a115bd50", "aOd4ALM2UBOl/LOaoRW9UA=="),
    ("2001:db8::10", "d5cbb818", "aOd4ALM2UBOl/LOa1cu4GA=="),
    ("127.0.0.1", "291e878b", "aOd4ALM2UBOl/LOaKR6Hiw=="),
    // A dual-stack listener reports IPv4 peers like this; the token must be the same.
    ("::ffff:127.0.0.1", "291e878b", "aOd4ALM2UBOl/LOaKR6Hiw=="),
  ])
  func knownVectors(address: String, addressCode: String, base64: String) throws {
    let peer = try #require(PeerAddress(address))
    let bytes = PingToken.bytes(secret: "demo-secret", unixSeconds: 1_760_000_000, peer: peer)
    #expect(bytes.count == 16)
    #expect(hex(bytes) == "68e77800" + "b3365013a5fcb39a" + addressCode)
    #expect(PingToken.base64(secret: "demo-secret", unixSeconds: 1_760_000_000, peer: peer) == base64)
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test func addressFamilies() throws {
    #expect(PeerAddress("10.1.2.3")?.version == 4)
    #expect(PeerAddress("::ffff:10.1.2.3")?.version == 4)
    #expect(PeerAddress("::ffff:10.1.2.3")?.text == "10.1.2.3")
    #expect(PeerAddress("2001:DB8:0::1")?.text == "2001:db8::1")
    #expect(PeerAddress("fe80::1%eth0")?.version == 6)
    for text in ["", "localhost", "1.2.3", "1.2.3.4.5", "::g"] { #expect(PeerAddress(text) == nil) }
  }
}
