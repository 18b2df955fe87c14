import CPinger
import Coverage
import Foundation
import TestSupport
import Testing

@testable import Driving

/// Real pings over loopback, captured.
struct CaptureWritingTests {
  @Test(
    "when pings are captured, then the capture confirms the results of the pinger",
    .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
  func agreement() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cp-cap-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "drive").path
    let capture = try PacketCapture(PacketCapture.Options(path: path, interface: "lo"))
    let server = try UDPServer()
    defer { server.close() }
    let started = Self.now
    let (events, sequences) = try Self.ping(server.port, capture, since: started)
    let state = capture.close()
    #expect(state.missing == 0)
    #expect(state.written == state.packets)

    let file = try CaptureFile([UInt8](Data(contentsOf: URL(fileURLWithPath: "\(path)-0001.pcap"))))
    #expect(file.damage == nil)
    let trips = RoundTrips(file.packets)
    #expect(trips.foreign == 0)
    let result = Verification(
      events: events, sequences: sequences, started: started.wall, trips: trips.trips, interval: .milliseconds(20),
      timeout: .milliseconds(200), limit: .milliseconds(20))
    #expect(result.matched == events.count)
    // The server drops a fifth. A pinger that gets no processor time skips pings.
    #expect(result.lostInBoth >= max(1, events.count / 10))
    // The host of a virtual machine can, rarely, take the processor away between two stamps of one packet.
    #expect(result.agrees, "\(result.lines)")
    #expect(try #require(result.difference).p50Nanoseconds <= 50_000)
    print(result.lines.joined(separator: "\n"))
  }

  @Test(
    "when there is no such interface, then the error names it",
    .enabled(if: Surroundings.mayCapture, "needs CAP_NET_RAW"))
  func unknownInterface() {
    let options = PacketCapture.Options(path: "/nonexistent/x", interface: "none0")
    let error = #expect(throws: CaptureError.self) { try PacketCapture(options) }
    #expect(error?.code == -ENODEV)
    #expect(error?.description == "packets cannot be captured: there is no network interface none0")
  }

  @Test("when a flow goes to a host name, then it is refused")
  func nameInsteadOfAddress() {
    let flow = CaptureFlow(.udp(localPort: nil), host: "localhost", port: 1)
    #expect(throws: CaptureError.self) { try PacketCapture(PacketCapture.Options(path: "/tmp/x"), flows: [flow]) }
  }

  private static var now: (wall: WallTime, boot: UInt64) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return (WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000), cping_now())
  }

  /// 150 RTR pings, as events of a drive with their numbers on the wire.
  private static func ping(_ port: UInt16, _ capture: PacketCapture, since started: (wall: WallTime, boot: UInt64))
    throws
    -> (events: [Event], sequences: [Int: UInt32])
  {
    var pinger: OpaquePointer?
    #expect(cping_create(nil, &pinger) == 0)
    let handle = try #require(pinger)
    defer { cping_destroy(handle) }
    var target = cping_target()
    target.protocol = CPING_RTR
    (target.interval_ns, target.timeout_ns, target.count) = (20_000_000, 200_000_000, 150)
    #expect(cping_address_parse(&target.destination, "127.0.0.1", port) == 0)
    let id = cping_add(handle, &target)
    var info = cping_target_info()
    #expect(cping_inspect(handle, id, &info) == 0)
    try capture.follow([CaptureFlow(.udp(localPort: info.local_port), host: "127.0.0.1", port: port)])
    #expect(cping_start(handle, id, 0) == 0)
    var events: [Event] = []
    var sequences: [Int: UInt32] = [:]
    var raw = cping_event()
    while true {
      try #require(cping_wait(handle, 5000) == 1)
      while cping_read(handle, &raw, 1) == 1 {
        let at = DriveTime(microseconds: (Int64(raw.slot_ns) - Int64(started.boot)) / 1000)
        if raw.kind == CPING_ANSWERED || raw.kind == CPING_LOST { sequences[events.count] = raw.sequence }
        switch raw.kind {
        case CPING_ANSWERED: events.append(Event(at: at, .ping(.answered(rttNanoseconds: raw.rtt_ns))))
        case CPING_LOST: events.append(Event(at: at, .ping(.failed(.timeout))))
        case CPING_FINISHED: return (events, sequences)
        default: break
        }
      }
    }
  }
}

/// Answers RR01 to all pings but every fifth, on a thread of its own.
private final class UDPServer: Sendable {
  let port: UInt16
  private let descriptor: CInt

  init() throws {
    let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { pointer in
        bind(descriptor, pointer.baseAddress, length) == 0
          ? getsockname(descriptor, pointer.baseAddress, &length) : -1
      }
    }
    try #require(status == 0)
    port = UInt16(bigEndian: address.sin_port)
    self.descriptor = descriptor
    Thread.detachNewThread { Self.serve(descriptor) }
  }

  func close() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  private static func serve(_ descriptor: CInt) {
    defer { _ = Foundation.close(descriptor) }
    var packet = [UInt8](repeating: 0, count: 64)
    var from = sockaddr_storage()
    var number = 0
    while true {
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      withUnsafeMutableBytes(of: &from) { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) { pointer in
          let count = recvfrom(descriptor, &packet, packet.count, 0, pointer.baseAddress, &length)
          guard count == 24 else { return number = -1 }
          number += 1
          guard number % 5 != 0 else { return }
          let reply = Array("RR01".utf8) + packet[4..<8]
          sendto(descriptor, reply, reply.count, 0, pointer.baseAddress, length)
        }
      }
      if number < 0 { return }
    }
  }
}
