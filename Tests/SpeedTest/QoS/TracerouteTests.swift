import Coverage
import Foundation
import OrderedJSON
import Pinging
import Testing

@testable import SpeedTest

@Suite struct TracerouteTests {
  private func hop(_ host: String) -> TraceroutePath.Hop { TraceroutePath.Hop(host: host, time: 5) }

  @Test("When replies come in any order, then the hops are listed in order, and the destination is the last one")
  func anyOrder() {
    var path = TraceroutePath(most: 30)
    path.reply(.destination, to: 4, hop("192.0.2.9"))
    path.reply(.destination, to: 3, hop("192.0.2.9"))
    #expect(!path.isComplete)
    path.reply(.router, to: 2, hop("10.0.0.2"))
    path.reply(.router, to: 1, hop("10.0.0.1"))
    #expect(path.isComplete)
    #expect(path.status == "OK")
    #expect(path.hops.map { $0?.host } == ["10.0.0.1", "10.0.0.2", "192.0.2.9"])
  }

  @Test("When a router is silent, then its hop is empty, and the path is complete once the hop is given up")
  func silentRouter() {
    var path = TraceroutePath(most: 5)
    path.reply(.router, to: 1, hop("10.0.0.1"))
    path.reply(.destination, to: 3, hop("192.0.2.9"))
    #expect(!path.isComplete)
    path.giveUp(2)
    #expect(path.isComplete && path.status == "OK")
    #expect(path.hops == [hop("10.0.0.1"), nil, hop("192.0.2.9")])
  }

  @Test("When the destination also replies to packets with more hops, then the path ends at its first reply")
  func repliesBeyond() {
    var path = TraceroutePath(most: 30)
    path.reply(.destination, to: 1, hop("192.0.2.9"))
    path.reply(.destination, to: 2, hop("192.0.2.9"))
    path.reply(.unreachable, to: 3, hop("192.0.2.8"))
    #expect(path.last == 1 && path.status == "OK" && path.hops.count == 1)
  }

  @Test("When the time is over before the destination replied, then the status is TIMEOUT")
  func noTime() {
    var path = TraceroutePath(most: 3)
    path.reply(.router, to: 1, hop("10.0.0.1"))
    #expect(path.status == "TIMEOUT" && path.hops.count == 1)
  }

  @Test("When the destination is not reached, then the status says how it ended")
  func notReached() {
    var tooFar = TraceroutePath(most: 2)
    tooFar.reply(.router, to: 1, hop("10.0.0.1"))
    tooFar.reply(.router, to: 2, hop("10.0.0.2"))
    #expect(tooFar.status == "MAX_HOPS_EXCEEDED")
    var unreachable = TraceroutePath(most: 9)
    unreachable.reply(.unreachable, to: 1, hop("10.0.0.1"))
    #expect(unreachable.isComplete && unreachable.status == "ERROR")
    var silent = TraceroutePath(most: 2)
    silent.giveUp(1)
    silent.giveUp(2)
    #expect(silent.hops.isEmpty && silent.status == "MAX_HOPS_EXCEEDED")
  }

  @Test("When replies are repeated, late, or of hops that were not probed, then they change nothing")
  func repeated() {
    var path = TraceroutePath(most: 3)
    path.reply(.router, to: 1, hop("10.0.0.1"))
    path.reply(.destination, to: 1, hop("10.0.0.7"))
    path.reply(.destination, to: 0, hop("10.0.0.8"))
    path.reply(.destination, to: 4, hop("10.0.0.9"))
    path.giveUp(1)
    #expect(path.hops == [hop("10.0.0.1")])
    #expect(path.last == nil)
  }

  @Test(
    "When a reply or a report comes, then reports of IPv4 and IPv6 are read by their own numbers (RFC 792, RFC 4443)")
  func replies() {
    func reply(_ kind: PingEvent.Kind, _ family: IPVersion = .ipv4, _ isOfDestination: Bool = false)
      -> HopReply?
    {
      HopReply(kind, family: family, isOfDestination: isOfDestination)
    }
    #expect(reply(.answered(rttNanoseconds: 1)) == .destination)
    #expect(reply(.icmpError(type: 11, code: 0)) == .router)
    #expect(reply(.icmpError(type: 3, code: 0), .ipv6) == .router)
    #expect(reply(.icmpError(type: 3, code: 3), .ipv4, true) == .destination)
    #expect(reply(.icmpError(type: 3, code: 3)) == .unreachable)
    #expect(reply(.icmpError(type: 1, code: 4), .ipv6, true) == .destination)
    #expect(reply(.icmpError(type: 1, code: 0), .ipv6, true) == .unreachable)
    #expect(reply(.icmpError(type: 3, code: 1)) == .unreachable)
    #expect(reply(.lost(.unknown)) == nil && reply(.finished) == nil && reply(.missed(count: 1)) == nil)
  }

  @Test(
    "When addresses are masked, then their last part is hidden",
    arguments: [
      ("192.0.2.77", "192.0.2.x"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::x"), ("2001:db8::1", "2001:db8:0:0::x"),
      ("fe80::1%eth0", "fe80:0:0:0::x"), ("router.example", "x"), ("", "x"), (":", "x"),
    ])
  func masked(host: String, text: String) { #expect(TraceroutePath.masked(host) == text) }

  @Test(
    "When a result is written, then silent hops are stars without a time, and a masked result shows no whole address")
  func members() throws {
    var path = TraceroutePath(most: 3)
    path.giveUp(1)
    path.reply(.destination, to: 2, hop("192.0.2.9"))
    func text(_ isMasked: Bool) -> String {
      JSON.object(TracerouteTest(QoSParameters(["host": "h"]), isMasked: isMasked).members(path)).text
    }
    #expect(
      text(false)
        == #"{"traceroute_result_status":"OK","traceroute_result_hops":2,"traceroute_result_details":"#
        + #"[{"host":"*"},{"host":"192.0.2.9","time":5}]}"#)
    #expect(text(true).contains(#""host":"192.0.2.x""#) && !text(true).contains("192.0.2.9"))
  }

  @Test("When loopback is traced, then it is one hop away, with or without the right to send ICMP")
  func loopback() throws {
    let path = try TracerouteTest(QoSParameters(["host": "127.0.0.1", "max_hops": "3"])).measure(LoopbackPort.context())
    #expect(path.status == "OK")
    #expect(path.hops.map { $0?.host } == ["127.0.0.1"])
    #expect((1...10_000_000_000).contains(try #require(path.hops.first ?? nil).time))
  }

  @Test("When ICMP may not be sent, then UDP to a closed port finds the destination")
  func loopbackByUDP() throws {
    let test = TracerouteTest(QoSParameters(["host": "127.0.0.1", "max_hops": "3"]), mayUseICMP: false)
    let path = try test.measure(LoopbackPort.context())
    #expect(path.status == "OK")
    #expect(path.hops.map { $0?.host } == ["127.0.0.1"])
  }

  @Test(
    "When loopback is traced by IPv6, then it is one hop away, by ICMP and by UDP",
    .enabled(if: LoopbackPort.hasIPv6, "this host has no IPv6"), arguments: [true, false])
  func loopbackIPv6(byICMP: Bool) throws {
    let test = TracerouteTest(QoSParameters(["host": "::1", "max_hops": "3"]), mayUseICMP: byICMP)
    let path = try test.measure(LoopbackPort.context(family: .ipv6))
    #expect(path.status == "OK")
    #expect(path.hops.map { $0?.host } == ["::1"])
  }

  @Test("When the host has no address, then the test is an ERROR")
  func noHost() throws {
    let context = try LoopbackPort.context()
    for parameters in [[:], ["host": "host.invalid"], ["host": "::1"]] {
      #expect(TracerouteTest(QoSParameters(parameters)).result(context).status == .error)
    }
  }
}
