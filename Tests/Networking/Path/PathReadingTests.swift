import Coverage
import Testing

@testable import Networking

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
    #expect(PathReading(fixed: .offline).remedy == nil)
    #expect(PathReading(fixed: .offline).obstacle == "no network, as network.source says")
  }

  @Test("when the network has the other IP version than the pinged host only, then obstacle and line say so")
  func otherFamily() {
    let reading = PathReading(link: Link(interface: "wwan0", kind: .modem), unreached: "192.0.2.1")
    #expect(reading.path == .cellular && reading.noWay == .otherFamily)
    #expect(reading.obstacle == "192.0.2.1 is an IPv4 address, and this network has IPv6 only")
    #expect(
      "\(reading)"
        == "cellular, the route leaves by wwan0, a modem, 192.0.2.1 is an IPv4 address, and this network has IPv6 only")
    #expect(reading.advice != nil)
    let declared = PathReading(fixed: .cellular, route: reading)
    #expect(declared.noWay == .otherFamily && declared.obstacle == reading.obstacle)
  }

  @Test(
    "when a declared link of any kind has no carrier, then the obstacle says so, and there is no remedy",
    arguments: Link.Kind.allCases)
  func withoutCarrier(kind: Link.Kind) {
    let reading = reading(kind, isRunning: false).declared(as: .cellular)
    #expect(reading.obstacle == "x0 has no carrier" && reading.remedy == nil && reading.noWay == .noRoute)
    #expect("\(reading)" == "none, the route leaves by x0, \(kind) without a carrier")
  }

  @Test("when there is no route, then the line names the host and the interface, as far as they are set")
  func noRoute() {
    #expect(PathReading.noRoute(to: nil, by: "wwan0").obstacle == "there is no route by wwan0")
    #expect(PathReading.missing(interface: "wwan0").noWay == .noInterface(isDialled: false))
    #expect(PathReading.missing(interface: "ppp0").noWay == .noInterface(isDialled: true))
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
