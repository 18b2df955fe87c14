import CLibssl
import Foundation

/// A UDP port: answers and counts the packets of UDP tests, and receives calls and sends their streams back.
final class QoSDatagramPort: @unchecked Sendable {
  private let descriptor: Int32
  let port: UInt16
  private let drop: Int
  private let lock = NSLock()
  private var tallies: [QoSTally] = []
  private var calls: [UInt32: QoSCall] = [:]
  private var isClosed = false
  /// Packets so far in each direction, for the drop fault.
  private var counts = [0, 0]

  static let probeLength = 46

  init(address: String, port: UInt16, faults: FaultState) throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    drop = faults.udpDrop
    self.port = try SocketAddress.bind(descriptor, to: address, port: port)
    var limit = timeval(tv_sec: 0, tv_usec: 200_000)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  func add(_ tally: QoSTally) {
    lock.withLock {
      tallies.removeAll { $0.uuid == tally.uuid && $0.client == tally.client }
      tallies.append(tally)
    }
  }

  func add(_ call: QoSCall) { lock.withLock { calls[call.source] = call } }

  func close() { lock.withLock { isClosed = true } }

  deinit { Glibc.close(descriptor) }

  /// Whether to drop a packet: the fault's percentage of them, evenly.
  private func drops(_ direction: Int) -> Bool {
    lock.withLock {
      defer { counts[direction] += 1 }
      return (counts[direction] + 1) * drop / 100 > counts[direction] * drop / 100
    }
  }

  /// Receives until the port is closed.
  func run() {
    var packet = [UInt8](repeating: 0, count: 65_536)
    while !lock.withLock({ isClosed }) {
      var peer = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &peer) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &packet, packet.count, 0, $0, &size)
        }
      }
      let time = Pace.now()
      if count > 0, !drops(0) { receive(Array(packet[..<count]), from: peer, at: time) }
    }
  }

  private func receive(_ packet: [UInt8], from peer: sockaddr_in, at time: Int64) {
    if packet.count == Self.probeLength, [1, 3].contains(packet[0]) {
      let uuid = Array(packet[2..<38])
      let tally = lock.withLock { tallies.first { $0.uuid == uuid && $0.client == peer.sin_addr.s_addr } }
      guard let tally else { return }
      tally.count(packet[1], time)
      if packet[0] == 3 { send([2] + packet[1...], to: peer) }
    } else if packet.count >= 12, packet[0] >> 6 == 2 {
      guard let call = lock.withLock({ calls[QoSCall.number(packet[8..<12])] }) else { return }
      if call.receive(packet, at: time) { Thread.detachNewThread { [self] in stream(call, to: peer) } }
    }
  }

  private func stream(_ call: QoSCall, to peer: sockaddr_in) {
    let start = Pace.now()
    for index in 0..<call.order.packets {
      let due = start + Int64(index * call.order.delay) * 1_000_000
      let wait = due - Pace.now()
      if wait > 0 { Thread.sleep(forTimeInterval: Double(wait) / 1e9) }
      if !drops(1) { send(call.packet(index), to: peer) }
    }
  }

  private func send(_ packet: [UInt8], to peer: sockaddr_in) {
    _ = SocketAddress.call(peer) { sendto(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL), $0, $1) }
  }

  /// The other direction: sends numbered packets to a client 100 ms apart, and counts the answers for 3 s each.
  func ask(_ tally: QoSTally, at peer: sockaddr_in) {
    var sent: [Int64] = []
    var last = Pace.now()
    while tally.received < tally.wanted, Pace.now() < last + 3_000_000_000, !lock.withLock({ isClosed }) {
      if sent.count < tally.wanted, sent.isEmpty || Pace.now() >= last + 100_000_000 {
        last = Pace.now()
        let head = [3, UInt8(truncatingIfNeeded: sent.count)] + tally.uuid
        let packet = head + withUnsafeBytes(of: last.bigEndian) { Array($0) }
        sent.append(last)
        if !drops(1) { send(packet, to: peer) }
      }
      collect(tally, sent)
    }
  }

  /// One answer, or a wait of 20 ms.
  private func collect(_ tally: QoSTally, _ sent: [Int64]) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 20) > 0 else { return }
    var packet = [UInt8](repeating: 0, count: 64)
    let count = recv(descriptor, &packet, packet.count, Int32(MSG_DONTWAIT))
    guard count == Self.probeLength, packet[0] == 2, Array(packet[2..<38]) == tally.uuid, !drops(0) else { return }
    // The newest packet that has the number.
    let newest = sent.count - 1
    let index = newest - Int(UInt8(truncatingIfNeeded: newest) &- packet[1])
    if sent.indices.contains(index) { tally.count(packet[1], Pace.now() - sent[index]) }
  }
}
