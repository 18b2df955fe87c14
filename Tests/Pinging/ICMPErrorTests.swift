import Coverage
import Testing

@testable import Pinging

/// ICMP errors in words.
struct ICMPErrorTests {
  @Test(
    "when an error came back, then it has words, type and code, and the MTU where it names one",
    arguments: [
      (.ipv4, 3, 1, nil, "host unreachable (ICMP type 3 code 1)"),
      (
        .ipv4, 3, 4, 1400,
        "too big for a link on the way, and must not be fragmented, the MTU is 1400 bytes (ICMP type 3 code 4)"
      ),
      (.ipv4, 11, 0, nil, "TTL exceeded (ICMP type 11 code 0)"),
      (.ipv4, 3, 99, nil, "unreachable (ICMP type 3 code 99)"),
      (.ipv6, 2, 0, 1280, "too big for a link on the way, the MTU is 1280 bytes (ICMPv6 type 2 code 0)"),
      (.ipv6, 3, 0, nil, "hop limit exceeded (ICMPv6 type 3 code 0)"),
      (.ipv6, 1, 4, nil, "port unreachable (ICMPv6 type 1 code 4)"),
      (.ipv6, 99, 1, nil, "an error (ICMPv6 type 99 code 1)"),
    ] as [(IPVersion, UInt8, UInt8, UInt32?, String)])
  func words(family: IPVersion, type: UInt8, code: UInt8, mtu: UInt32?, expected: String) {
    #expect("\(ICMPError(family, type: type, code: code, mtu: mtu))" == expected)
  }

  @Test("when an error is of the other IP version, then its TTL is not exceeded")
  func exceeded() {
    #expect(ICMPError(.ipv4, type: 11, code: 0).isTTLExceeded && ICMPError(.ipv6, type: 3, code: 0).isTTLExceeded)
    #expect(!ICMPError(.ipv4, type: 3, code: 0).isTTLExceeded && !ICMPError(.ipv4, type: 11, code: 1).isTTLExceeded)
  }
}
