import Testing

@testable import control_server

@Suite struct HostAndPortTests {
  @Test(arguments: [
    ("127.0.0.1:5231", "127.0.0.1", 5231), ("host.test:1", "host.test", 1), ("[::1]:65535", "::1", 65_535),
  ])
  func reads(text: String, host: String, port: Int) {
    #expect(HostAndPort(argument: text) == HostAndPort(host: host, port: port))
  }

  @Test(arguments: ["", ":", "host", "host:", ":1", "host:0", "host:65536", "host:x", "::1", "[]:1", "host:-1"])
  func refuses(text: String) {
    #expect(HostAndPort(argument: text) == nil)
  }
}
