import Testing

@testable import Networking

@Suite struct HostPortTests {
  @Test(
    "When a host is written with its port, then both are read, and it is written the same way",
    arguments: [
      ("host.example:443", "host.example", 443), ("192.0.2.1:5231", "192.0.2.1", 5231),
      ("[2001:db8::1]:443", "2001:db8::1", 443),
    ])
  func good(text: String, host: String, port: Int) throws {
    let place = try #require(HostPort(text))
    #expect(place.host == host && Int(place.port) == port && "\(place)" == text)
  }

  @Test(
    "When the port is missing or out of range, or an address has no brackets, then the text is rejected",
    arguments: ["", "host", "host:", ":443", "host:0", "host:65536", "2001:db8::1:443", "[]:1", "[::1:443", "a b:1"])
  func bad(text: String) { #expect(HostPort(text) == nil) }
}
