import Coverage
import Pinging
import Testing

@testable import Driving
@testable import Networking

/// The reason that a drive without pings names at its end.
struct SilenceTests {
  private var silence = Silence()

  private func situation(
    _ path: Coverage.Path = .cellular, network: PathReading? = nil, isClockTrusted: Bool = true,
    isRefused: Bool = false, trouble: String? = nil
  ) -> Silence.Situation {
    .init(path: path, network: network, isClockTrusted: isClockTrusted, isRefused: isRefused, trouble: trouble)
  }

  @Test("when no ping can be sent, then the reason names the cause and the remedy")
  func reasons() {
    let ethernet = PathReading(link: Link(interface: "eth0", kind: .ethernet))
    #expect(
      situation(.wifi, network: ethernet).reason
        == "the route left by eth0, an Ethernet link, which counts as Wi-Fi; set network.source: fixed-cellular if it is a modem's"
    )
    #expect(
      situation(.wifi, network: PathReading(link: Link(interface: "wlan0", kind: .wifi))).reason
        == "the route left by wlan0, a Wi-Fi link")
    #expect(situation(.wifi, network: PathReading(fixed: .wifi)).reason == "network.source says that it is on Wi-Fi")
    #expect(situation(isClockTrusted: false).reason == "the host's clock is not set, so no test was requested")
    #expect(situation(isRefused: true, trouble: "x").reason == "the ping server refused the token (RE01)")
    #expect(
      situation(.offline, network: .missing(interface: "wwan0"), trouble: "x").reason
        == "there was no network (none, there is no interface wwan0)")
    #expect(situation(trouble: "the control server refused (400): x").reason == "the control server refused (400): x")
    var pinging = situation(trouble: "x")
    pinging.isPinging = true
    #expect(pinging.reason == "it ended before the first ping was answered or lost")
    #expect(situation().reason == "there was no test from the control server yet")
  }

  @Test("when causes change, then the one that lasted longest is named, or the last of two equal ones")
  mutating func longest() {
    #expect(silence.reason == nil)
    silence.note(situation(.wifi))
    silence.note(situation(isRefused: true))
    silence.note(situation(isRefused: true))
    silence.note(situation(trouble: "x"))
    #expect(silence.reason == "the ping server refused the token (RE01)")
    silence.note(situation(trouble: "x"))
    #expect(silence.reason == "x")
  }

  @Test("when the words of a reason change each second, then they count as one cause, and the last words are named")
  mutating func changingWords() {
    for _ in 0..<3 { silence.note(situation(.wifi)) }
    for seconds in (0...4).reversed() { silence.note(situation(trouble: "the next try is in \(seconds) s")) }
    #expect(silence.reason == "the next try is in 0 s")
  }

  @Test("when the last cause is not among the longest, then the first of the longest in the order of causes is named")
  mutating func tie() {
    for _ in 0..<2 {
      silence.note(situation(isRefused: true))
      silence.note(situation(.wifi))
    }
    silence.note(situation())
    #expect(silence.reason == "it was on Wi-Fi")
  }
}
