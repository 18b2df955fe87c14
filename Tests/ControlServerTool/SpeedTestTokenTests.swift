import Testing

@testable import control_server

/// The vectors were computed independently of this code.
@Suite struct SpeedTestTokenTests {
  private static let uuid = "11111111-2222-3333-4444-555555555555"

  @Test(arguments: [("192.0.2.7", "ZVPxAJsOlLhT1mEBVYDHNw=="), ("2001:db8::1", "ZVPxAJsOlLhT1mEBIgf4DA==")])
  func knownVectors(address: String, second: String) throws {
    let first = "\(Self.uuid)_1700000000_3Y5nJIbWPlnjZ8RgU73uYfqGYFc="
    let peer = try #require(PeerAddress(address))
    let token = SpeedTestToken.text(
      secret: "testsecret", openTestUUID: Self.uuid, unixSeconds: 1_700_000_000, peer: peer)
    #expect(token == "\(first)_#v2#\(second)")
    #expect(SpeedTestToken.uuid(in: token) == Self.uuid)
  }

  @Test(arguments: ["", "_", "x_1_y", "O\(uuid)_1_y", " \(uuid)"])
  func withoutUUID(token: String) {
    #expect(SpeedTestToken.uuid(in: token) == nil)
  }
}
