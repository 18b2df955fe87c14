import Coverage
import Testing

@testable import Networking
@testable import SpeedTest

/// The links of a test, from readings of its route.
struct LinkTrackTests {
  private func reading(
    _ kind: Link.Kind, _ name: String, _ address: String = "10.0.0.2", to host: String = "h", isRunning: Bool = true,
    ssid: String? = nil
  ) -> PathReading {
    PathReading(
      link: Link(interface: name, kind: kind, isRunning: isRunning, ssid: ssid),
      way: Way(destination: host, interface: name, address: address))
  }

  private func links(_ readings: PathReading...) -> [String] {
    var track = LinkTrack()
    for (second, reading) in readings.enumerated() { track.note(reading, at: Int64(second) * 1_000_000_000) }
    return track.links.map { "\($0.kind.rawValue) \($0.interface ?? "-") \($0.since / 1_000_000_000)" }
  }

  @Test("when the route stays, also through an outage, then the test has one link")
  func same() {
    let modem = reading(.modem, "wwan0")
    #expect(
      links(modem, modem, .noRoute(to: "h", by: nil), reading(.modem, "wwan0", isRunning: false), modem) == [
        "cellular wwan0 0"
      ])
    #expect(links(.noRoute(to: "h", by: nil)).isEmpty)
  }

  @Test("when the route moves to Wi-Fi and back, then the test has each link with its time")
  func moved() {
    let (modem, radio) = (reading(.modem, "wwan0"), reading(.wifi, "wlan0"))
    #expect(links(modem, radio, modem) == ["cellular wwan0 0", "wifi wlan0 1", "cellular wwan0 2"])
  }

  @Test("when the modem has another address, then that is another link: connections do not outlive it")
  func readdressed() {
    #expect(links(reading(.modem, "wwan0"), reading(.modem, "wwan0", "10.0.0.3")).count == 2)
  }

  @Test("when the radio joins another Wi-Fi network, then that is another link; a name that is not known is none")
  func joined() {
    let networks = ["depot", nil, "depot", "fleet"].map { reading(.wifi, "wlan0", ssid: $0) }
    var track = LinkTrack()
    for (second, reading) in networks.enumerated() { track.note(reading, at: Int64(second)) }
    #expect(track.links.map(\.ssid) == ["depot", "fleet"] && track.links.ssid == nil)
  }

  @Test("when the server's name was looked up, then the route to its address replaces the one to the name")
  func lookedUp() {
    let (byName, byAddress) = (reading(.wifi, "wlan0", to: "name"), reading(.modem, "wwan0", to: "192.0.2.1"))
    #expect(links(byName, byAddress, byAddress) == ["cellular wwan0 0"])
  }

  @Test("when the operator declares the kind, then an outage is no change, and another kind is one")
  func declared() {
    let way = Way(destination: "h", interface: "eth0", address: "10.0.0.2")
    let route = PathReading(link: Link(interface: "eth0", kind: .ethernet), way: way)
    let known = PathReading(fixed: .cellular, route: route)
    #expect(links(known, PathReading(fixed: .cellular), known) == ["cellular eth0 0"])
    #expect(links(known, PathReading(fixed: .wifi, route: route)) == ["cellular eth0 0", "wifi eth0 1"])
    #expect(links(PathReading(fixed: .wifi)) == ["wifi - 0"])
  }

  @Test("when the route flaps, then the track stops growing")
  func flapping() {
    var track = LinkTrack()
    for second in 0..<1000 { track.note(reading(.modem, "wwan0", "10.0.0.\(second % 2)"), at: Int64(second)) }
    #expect(track.links.count == 20)
  }

  @Test(
    "when the kernel tells the kind of a link, then a test has that kind, and only a modem's and this host are cellular",
    arguments: Link.Kind.allCases)
  func kinds(kind: Link.Kind) throws {
    let link = try #require(reading(kind, "x0").testLink(since: 0))
    let expected: SpeedTestLink.Kind =
      switch kind {
      case .modem: .cellular
      case .wifi: .wifi
      case .ethernet: .ethernet
      case .tunnel: .vpn
      case .loopback: .loopback
      case .other: .other
      }
    #expect(link.kind == expected)
    #expect(link.kind.isCellular == (reading(kind, "x0").path == .cellular))
  }
}
