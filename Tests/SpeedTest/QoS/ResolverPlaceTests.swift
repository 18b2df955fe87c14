import Networking
import Testing

@testable import SpeedTest

@Suite struct ResolverPlaceTests {
  @Test(
    "When an objective names a resolver, then its port is 53, unless the text has another",
    arguments: [
      ("192.0.2.1", "192.0.2.1", 53), ("192.0.2.1:5300", "192.0.2.1", 5300), ("2001:db8::1", "2001:db8::1", 53),
      ("[2001:db8::1]", "2001:db8::1", 53), ("[2001:db8::1]:5300", "2001:db8::1", 5300),
      ("ns.example:1", "ns.example", 1),
      ("ns.example:0", "ns.example:0", 53), ("ns.example:65536", "ns.example:65536", 53), ("", "", 53), (":", ":", 53),
      ("[", "[", 53), ("[]:1", "[]:1", 53),
    ] as [(String, String, UInt16)])
  func places(text: String, host: String, port: UInt16) {
    let place = HostPort(resolver: text)
    #expect(place.host == host && place.port == port)
  }
}
