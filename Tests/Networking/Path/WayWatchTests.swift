import Coverage
import Testing

@testable import Networking

/// The readings that show another link or another address.
struct WayWatchTests {
  private var watch = WayWatch()

  private func reading(
    _ interface: String, _ address: String?, to destination: String? = "192.0.2.1", kind: Link.Kind = .modem
  ) -> PathReading {
    PathReading(
      link: Link(interface: interface, kind: kind),
      way: Way(destination: destination, interface: interface, address: address))
  }

  private mutating func hasChanged(_ reading: PathReading) -> Bool { watch.hasChanged(reading) }

  @Test("when the first way becomes known, or the same way again, then nothing has changed")
  mutating func first() {
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
  }

  @Test("when the link or the address changes, then that counts as a change once")
  mutating func changes() {
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
    #expect(hasChanged(reading("wwan0", "10.1.0.3")))
    #expect(hasChanged(reading("wwan1", "10.1.0.3")))
    #expect(!hasChanged(reading("wwan1", "10.1.0.3")))
  }

  @Test("when the network goes away, then only another way afterwards is a change")
  mutating func gap() {
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
    #expect(!hasChanged(.missing(interface: "wwan0")))
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
    #expect(!hasChanged(.noRoute(to: "192.0.2.1", by: nil)))
    #expect(hasChanged(reading("wwan0", "10.1.0.9")))
  }

  @Test("when another host is pinged, then its way is not compared with the previous one")
  mutating func otherDestination() {
    #expect(!hasChanged(reading("wwan0", "10.1.0.2", to: nil)))
    #expect(!hasChanged(reading("wwan0", "2001:db8::2", to: "2001:db8::1")))
    #expect(hasChanged(reading("wwan0", "2001:db8::3", to: "2001:db8::1")))
  }

  @Test("when the route leaves by Wi-Fi and comes back, then the way has not changed")
  mutating func wifi() {
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
    #expect(!hasChanged(reading("wlan0", "192.168.1.2", kind: .wifi)))
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
  }

  @Test("when the kind of the link is declared, or read from a file, then its way is still known")
  func declared() {
    let way = Route(interface: nil, destination: "127.0.0.1").reading.way
    #expect(way == Way(destination: "127.0.0.1", interface: "lo", address: "127.0.0.1"))
    let reading = Route(interface: nil, destination: "127.0.0.1").reading
    #expect(PathReading(fixed: .cellular, route: reading).way == way)
  }

  @Test("when the link comes to lead nowhere, then that is one change, and none when something is behind it again")
  mutating func deadEnd() {
    #expect(!hasChanged(reading("tun0", "10.1.0.2", kind: .tunnel).declared(as: .cellular)))
    let deadEnd = PathReading(link: Link(interface: "tun0", kind: .tunnel, isRunning: false, isDeadEnd: true))
    #expect(hasChanged(deadEnd.declared(as: .cellular)) && !hasChanged(deadEnd.declared(as: .cellular)))
    #expect(!hasChanged(reading("tun0", "10.1.0.2", kind: .tunnel).declared(as: .cellular)))
  }

  @Test("when the network loses the pinged host's IP version, then that is one change, on Wi-Fi none")
  mutating func otherFamily() {
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
    let modem = PathReading(link: Link(interface: "wwan0", kind: .modem), unreached: "10.0.0.1")
    #expect(hasChanged(modem) && !hasChanged(modem))
    #expect(!hasChanged(reading("wwan0", "10.1.0.2")))
    #expect(!hasChanged(PathReading(link: Link(interface: "wlan0", kind: .wifi), unreached: "10.0.0.1")))
  }
}

/// What a missing route means when the interface by which it left is gone.
struct LinkWatchTests {
  private var watch = LinkWatch(isDeclared: false)
  private let none = PathReading.noRoute(to: "192.0.2.1", by: nil)

  private func reading(_ interface: String, index: UInt32, kind: Link.Kind = .modem) -> PathReading {
    PathReading(
      link: Link(interface: interface, kind: kind, index: index),
      way: Way(destination: nil, interface: interface, address: nil))
  }

  private mutating func judged(_ reading: PathReading, present: Set<UInt32>) -> PathReading {
    watch.judged(reading, exists: present.contains)
  }

  @Test(
    "when the route is missing, then its interface counts as gone until there is a route again, also when one of its name is back"
  )
  mutating func gone() {
    #expect(judged(none, present: []) == none, "there was no route yet")
    let modem = reading("wwan0", index: 4)
    #expect(judged(modem, present: [4]) == modem)
    #expect(judged(none, present: [4]) == none, "a modem without a network")
    for present: Set<UInt32> in [[], [5]] {
      let gone = judged(none, present: present)
      #expect(gone.noWay == .noInterface(isDialled: false) && gone.path == .offline)
      #expect(gone.obstacle == "the interface wwan0 was removed, and no route has come since")
    }
    let back = reading("wwan0", index: 5)
    #expect(judged(back, present: [5]) == back)
    #expect(judged(none, present: [5]) == none)
  }

  @Test(
    "when the interface of another link is gone, then a modem without a route is a dead zone, unless it was declared")
  mutating func otherLink() {
    _ = judged(reading("wwan0", index: 4), present: [4])
    _ = judged(reading("eth0", index: 7, kind: .ethernet), present: [7])
    #expect(judged(none, present: []) == none)
    watch = LinkWatch(isDeclared: true)
    _ = judged(reading("eth0", index: 7, kind: .ethernet), present: [7])
    #expect(judged(none, present: []).noWay == .noInterface(isDialled: false))
  }

  @Test("when an interface belongs to the modem itself, then it exists without a connection, too")
  func own() {
    for interface in ["wwan0", "rmnet_ipa0", "rmnet_mhi0", "usb0"] { #expect(!Link.isDialled(interface)) }
  }

  @Test(
    "when an interface is gone that exists only while its modem is connected, then the network is missing",
    arguments: ["ppp0", "qmapmux0.0", "mbimmux0.1", "qmimux0", "rmnet_data0"])
  mutating func dialled(interface: String) {
    _ = judged(reading(interface, index: 4), present: [4])
    #expect(judged(none, present: []).noWay == .noInterface(isDialled: true))
  }
}
