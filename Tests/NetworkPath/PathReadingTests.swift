import Coverage
import Testing

@testable import NetworkPath

/// The lines for the operator about the link, and edge cases of the settings for the source.
struct PathReadingTests {
  private func reading(_ kind: Link.Kind, isRunning: Bool = true) -> PathReading {
    PathReading(link: Link(interface: "x0", kind: kind, isRunning: isRunning))
  }

  @Test(
    "when a drive was not measured, then the remedy names the link, and the setting unless the link is certainly Wi-Fi",
    arguments: [
      (
        .ethernet,
        "the route left by x0, an Ethernet link, which counts as Wi-Fi; set network.source: fixed-cellular if it is a modem's"
      ),
      (
        .tunnel,
        "the route left by x0, a tunnel, which counts as Wi-Fi; set network.source: fixed-cellular if it is a modem's"
      ),
      (
        .other,
        "the route left by x0, a link of an unknown kind, which counts as Wi-Fi; set network.source: fixed-cellular if it "
          + "is a modem's"
      ),
      (.wifi, "the route left by x0, a Wi-Fi link"), (.modem, nil), (.loopback, nil),
    ] as [(Link.Kind, String?)])
  func remedy(kind: Link.Kind, expected: String?) {
    #expect(reading(kind).remedy == expected)
  }

  @Test("when the configuration declares Wi-Fi, then the remedy names the setting; other declarations have none")
  func declaredRemedy() {
    #expect(PathReading(fixed: .wifi).remedy == "network.source says that it is on Wi-Fi")
    #expect(PathReading(fixed: .cellular).remedy == nil && PathReading(fixed: .cellular).obstacle == nil)
    #expect(PathReading(fixed: .offline).remedy == nil && PathReading(fixed: .offline).obstacle == nil)
  }

  @Test(
    "when a link of any kind has no carrier, then there is neither an obstacle nor a remedy",
    arguments: Link.Kind.allCases)
  func withoutCarrier(kind: Link.Kind) {
    let reading = reading(kind, isRunning: false)
    #expect(reading.obstacle == nil && reading.remedy == nil)
    #expect("\(reading)" == "none, the route leaves by x0, \(kind) without a carrier")
  }

  @Test("when there is no route, then the line names the host and the interface, as far as they are set")
  func noRoute() {
    #expect("\(PathReading.noRoute(to: nil, by: nil))" == "none, there is no route")
    #expect("\(PathReading.noRoute(to: nil, by: "wwan0"))" == "none, there is no route by wwan0")
    #expect("\(PathReading.noRoute(to: "::1", by: "wwan0"))" == "none, there is no route to ::1 by wwan0")
    #expect(
      "\(PathReading.unknown(KernelFailure(code: -12)))"
        == "none, the kernel cannot look up the route: Cannot allocate memory")
  }

  @Test(
    "when the host is an address in any form, then its own route decides; for a name, the default route",
    arguments: ["127.0.0.1", "::1", "[::1]"])
  func numericHosts(host: String) {
    let reading = Route(interface: nil, destination: host).reading
    #expect(reading.link?.kind == .loopback)
    #expect(reading.way?.destination == host)
  }

  @Test("when the host is a name for this host, then its own route is not looked up")
  func name() {
    let reading = Route(interface: nil, destination: "localhost").reading
    #expect(reading.link?.kind != .loopback)
  }

  @Test(
    "when the source of the path has another form, then it is rejected",
    arguments: ["", "AUTO", " auto", "fixed-none", "fixed-offline", "fixed:cellular", "file", "file:", "FILE:/x"])
  func noPathSource(text: String) {
    #expect(PathSource(text) == nil)
  }

  @Test("when a path has a colon, then it stays whole")
  func colon() {
    #expect(PathSource("file:/a:b") == .file("/a:b"))
  }
}
