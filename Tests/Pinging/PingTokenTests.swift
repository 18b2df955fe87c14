import Foundation
import Testing

@testable import Pinging

/// Tokens that this host makes itself (docs/protocol.md, 1.2).
struct PingTokenTests {
  private func token(_ address: String) throws -> String {
    let mapped = try #require(PingAddress(numeric: address, port: 0)).mapped
    return Data(
      PingToken.bytes(secret: Array("demo-secret".utf8), unixSeconds: 1_795_168_800, address: mapped)
    ).base64EncodedString()
  }

  @Test("when the token of the documentation is made, then it has the same bytes")
  func documented() throws { #expect(try token("127.0.0.1") == "awAaIAO6Z+tCTxwkDjXDlA==") }

  @Test("when the address is another, then only the proof of the address differs")
  func otherAddress() throws {
    let (one, other) = (try token("127.0.0.1"), try token("2001:db8::1"))
    #expect(one != other && one.prefix(16) == other.prefix(16))
  }

  @Test("when an address is mapped, then IPv4 has the prefix and IPv6 is as it was")
  func mapped() throws {
    #expect(
      PingAddress(numeric: "192.0.2.1", port: 7)?.mapped == [UInt8](repeating: 0, count: 10) + [255, 255, 192, 0, 2, 1])
    #expect(PingAddress(numeric: "::1", port: 7)?.mapped == [UInt8](repeating: 0, count: 15) + [1])
  }
}
