import Foundation
import Pinging
import Testing

@testable import SpeedTest

/// The tokens of docs/protocol.md, 7.4.
@Suite struct TokenTests {
  private let secret = "testsecret"

  private func version2(_ address: [UInt8]) -> String {
    let bytes = PingToken.bytes(secret: Array(secret.utf8), unixSeconds: 1_700_000_000, address: address)
    return Data(bytes).base64EncodedString()
  }

  @Test("When a token of version 1 is made, then it is that of docs/protocol.md, 7.4")
  func version1() {
    #expect(
      LabToken.version1(
        secret: secret, uuid: "11111111-2222-3333-4444-555555555555", unixSeconds: 1_700_000_000)
        == "11111111-2222-3333-4444-555555555555_1700000000_3Y5nJIbWPlnjZ8RgU73uYfqGYFc=")
  }

  @Test("When a token of version 2 is made for IPv4, then it is that of docs/protocol.md, 7.4")
  func version2() {
    let address = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 7]
    #expect(
      version2(address) == "ZVPxAJsOlLhT1mEBVYDHNw==")
  }

  @Test("When a token of version 2 is made for IPv6, then it is that of docs/protocol.md, 7.4")
  func version2IPv6() {
    let address: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
    #expect(
      version2(address) == "ZVPxAJsOlLhT1mEBIgf4DA==")
  }

  @Test("Edge 8: when a combined token is sent, then it is on the line byte for byte")
  func passedThrough() throws {
    let text =
      "ace29b59-56f2-4844-80f3-3eb25f7bd35c_1795219499_G2a0Jf4jxDILBeRPkBcEhKAA3q8=_#v2#awDgK4ZR1mZ5yyELZIc/GQ=="
    #expect(ClientCommand.token(try MeasurementToken(text)).line == "TOKEN \(text)\n")
  }

  @Test("Edge 8: when a token has several hundred bytes, then it is accepted")
  func longToken() throws {
    let text = String(repeating: "a", count: 900)
    #expect(try MeasurementToken(text).text == text)
  }

  @Test(
    "When a token could break the line, then it is refused",
    arguments: ["", "a b", "a\nQUIT", "a\rb", "a\0b", "ü", String(repeating: "a", count: 1001)])
  func unusable(text: String) {
    #expect(throws: SpeedTestError.unusableToken) { try MeasurementToken(text) }
  }
}
