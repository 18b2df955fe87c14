import CLibssl
import Foundation

/// A UDP socket of a test that does not block; tests wait by ``Waiting`` on `descriptor`.
final class DatagramSocket: Sendable {
  let descriptor: Int32
  let port: UInt16
  private let counter: TrafficCounter
  /// Bytes of the headers of IP and UDP of each packet: with small packets, a large part of the bytes that a network bills.
  private let headers: Int

  /// - Parameters:
  ///   - address: Where to bind; port 0: any free one.
  ///   - peer: The only address to which packets go and from which they come; `nil`: any.
  ///   - interface: The interface that packets leave by and come from; `nil`: any.
  /// - Throws: ``SpeedTestError/unreachable(_:)``, for example when the port is in use.
  init(
    on address: Addresses.Address, peer: Addresses.Address? = nil, interface: String? = nil,
    counter: TrafficCounter = TrafficCounter()
  ) throws(SpeedTestError) {
    self.counter = counter
    headers = address.family == AF_INET6 ? 48 : 28
    let descriptor = try address.makeSocket(SOCK_DGRAM, interface: interface)
    self.descriptor = descriptor
    guard address.call({ Glibc.bind(descriptor, $0, $1) }) == 0,
      peer?.call({ Glibc.connect(descriptor, $0, $1) }) ?? 0 == 0,
      let bound = Addresses.Address.filled(by: { getsockname(descriptor, $0, $1) })
    else {
      let reason = String(cString: strerror(errno))
      Glibc.close(descriptor)
      throw .unreachable(reason)
    }
    port = bound.port
  }

  /// Sends to the peer. A refusal is no failure of the test: the packet is lost.
  func send(_ bytes: [UInt8]) {
    note(sent: Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)))
  }

  /// Sends to any address, on a socket without a peer.
  func send(_ bytes: [UInt8], to address: Addresses.Address) {
    let count = address.call {
      Int32(clamping: sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1))
    }
    note(sent: Int(count))
  }

  private func note(sent count: Int) { if count >= 0 { counter.addSent(count + headers) } }

  /// Packets that are there, with their senders. 64 at most: under a flood, the caller checks its limits between two calls.
  func receiveSome() -> [(bytes: [UInt8], from: Addresses.Address)] {
    var packets: [(bytes: [UInt8], from: Addresses.Address)] = []
    while packets.count < 64, let packet = receive() { packets.append(packet) }
    return packets
  }

  /// A packet that is there, with its sender; `nil`: none.
  /// - Parameter onRefusal: Called when an earlier packet came to a closed port.
  func receive(onRefusal: () -> Void = {}) -> (bytes: [UInt8], from: Addresses.Address)? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      var count = 0
      let sender = Addresses.Address.filled { address, size in
        count = recvfrom(descriptor, &buffer, buffer.count, 0, address, size)
        return count < 0 ? -1 : 0
      }
      if let sender {
        counter.addReceived(count + headers)
        return (Array(buffer[..<count]), sender)
      }
      // The kernel reports the ICMP error of an earlier packet here; packets may stand behind it.
      if errno == ECONNREFUSED { onRefusal() }
      guard [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EINTR].contains(errno) else { return nil }
    }
  }

  deinit { close(descriptor) }
}
