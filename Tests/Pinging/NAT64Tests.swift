import Coverage
import Testing

@testable import Pinging

/// The prefix of a network with NAT64 (RFC 7050), and the addresses that it makes of IPv4 addresses (RFC 6052).
struct NAT64Tests {
  private func address(_ text: String, port: UInt16 = 0) throws -> PingAddress {
    try #require(PingAddress(numeric: text, port: port))
  }

  @Test(
    "when a name server synthesizes ipv4only.arpa, then its prefix makes the addresses of RFC 6052, 2.4",
    arguments: [
      ("2001:db8:c000:aa::", "2001:db8:c000:221::"), ("2001:db8:1c0:0:aa::", "2001:db8:1c0:2:21::"),
      ("2001:db8:122:c000:0:aa00::", "2001:db8:122:c000:2:2100::"),
      ("2001:db8:122:3c0:0:aa::", "2001:db8:122:3c0:0:221::"),
      ("2001:db8:122:344:c0:0:aa00:0", "2001:db8:122:344:c0:2:2100::"),
      ("2001:db8:122:344::c000:aa", "2001:db8:122:344::192.0.2.33"), ("64:ff9b::192.0.0.171", "64:ff9b::192.0.2.33"),
    ])
  func synthesized(known: String, expected: String) throws {
    let prefix = try #require(NAT64Prefix(synthesized: try address(known)))
    #expect(prefix.synthesize(try address("192.0.2.33", port: 444)) == (try address(expected, port: 444)))
  }

  @Test(
    "when an address is not synthesized, then it has no prefix",
    arguments: ["2001:db8::1", "::1", "192.0.0.170", "64:ff9b::192.0.0.172", "2001:db8:122:344:1c0:0:aa00:0"])
  func noPrefix(text: String) throws {
    #expect(NAT64Prefix(synthesized: try address(text)) == nil)
  }

  @Test("when the address has IPv6 already, then nothing is made of it")
  func ipv6() throws {
    let prefix = try #require(NAT64Prefix(synthesized: try address("64:ff9b::192.0.0.170")))
    #expect(prefix.synthesize(try address("2001:db8::1")) == nil)
  }

  @Test(
    "when the ping server's address is numeric, then the wanted IP version does not matter, but a missing route does")
  func server() async throws {
    let found = try await PingAddress.ofServer("127.0.0.1", port: 9, family: .ipv6, preferring: .ipv6) { _ in false }
    #expect(found == (try address("127.0.0.1", port: 9)))
    let error = await #expect(throws: OtherFamilyError.self) {
      _ = try await PingAddress.ofServer("2001:db8::1", port: 9, family: nil) { _ in true }
    }
    #expect(error?.description == "2001:db8::1 is an IPv6 address, and this network has IPv4 only")
  }

  @Test("when one of a name's addresses is out of reach, then the other one is pinged, whichever the system prefers")
  func oneOfTwo() throws {
    let (six, four) = (try address("2001:db8::1", port: 9), try address("192.0.2.1", port: 9))
    func best(_ preferred: IPVersion?, _ isUnreachable: (String) -> Bool) -> PingAddress? {
      PingAddress.best(of: [six, four], preferring: preferred, isUnreachable: isUnreachable)
    }
    #expect(best(nil) { $0.contains(":") } == four && best(nil) { $0.contains(".") } == six)
    #expect(
      best(.ipv4) { _ in false } == four && best(.ipv4) { $0.contains(".") } == six && best(nil) { _ in true } == nil)
  }
}
