import Foundation
import Testing

@testable import SpeedTest

/// Sockets of QoS tests that are bound to an interface.
@Suite struct SocketTests {
  @Test("When an interface is named, then packets and connections use it, and an absent interface is an error")
  func interfaces() throws {
    let (here, waiting) = (LoopbackPort.address(0), LoopbackPort.waiting())
    let server = try DatagramSocket(on: here, interface: "lo")
    let client = try DatagramSocket(on: here, peer: LoopbackPort.address(server.port), interface: "lo")
    client.send([1, 2, 3])
    #expect(try waiting.wait(on: server.descriptor, for: Int16(POLLIN), until: .max))
    #expect(server.receiveSome().map(\.bytes) == [[1, 2, 3]])
    let listener = try LineListener(on: here, interface: "lo")
    _ = try Dialer(waiting: waiting, interface: "lo").connect(LoopbackPort.address(listener.port))
    let absent = SpeedTestError.unreachable("interface nosuch0: No such device")
    #expect(throws: absent) { try DatagramSocket(on: here, interface: "nosuch0") }
    #expect(throws: absent) { try LineListener(on: here, interface: "nosuch0") }
  }

  @Test("When packets flood in, then a part of them is delivered at a time, so that the caller can look at its limits")
  func flood() throws {
    let server = try DatagramSocket(on: LoopbackPort.address(0))
    let client = try DatagramSocket(on: LoopbackPort.address(0), peer: LoopbackPort.address(server.port))
    for _ in 0..<100 { client.send([1]) }
    #expect(server.receiveSome().count == 64)
    #expect(server.receiveSome().count == 36)
    #expect(server.receiveSome().isEmpty)
  }

  @Test("When a packet came to a closed port, then the refusal is reported, and no packet is returned")
  func refusal() throws {
    let closed = try DatagramSocket(on: LoopbackPort.address(0)).port
    let client = try DatagramSocket(on: LoopbackPort.address(0), peer: LoopbackPort.address(closed))
    client.send([1])
    #expect(try LoopbackPort.waiting().wait(on: client.descriptor, for: Int16(POLLIN), until: .max))
    var refusals = 0
    #expect(client.receive { refusals += 1 } == nil)
    #expect(refusals == 1)
  }
}
