import CLibssl
import Coverage
import Foundation
import OrderedJSON
import Synchronization
import TestSupport
import Testing

@testable import SpeedTest

/// The UDP side of tests against a scripted server. Edges are those of docs/protocol.md, 9.
@Suite struct QoSExchangeTests {
  /// A control connection that replies by a function of the command, and a UDP port that answers by another function.
  private final class Peer: Sendable {
    let server: ScriptedServer
    let port: UInt16
    private let isOver = Mutex(false)
    private let packets: Collected<[UInt8]>

    init(
      reply: @escaping @Sendable (String, UInt16) -> String?,
      answers: @escaping @Sendable ([UInt8], Int) -> [[UInt8]]
    ) throws {
      let socket = try DatagramSocket(on: LoopbackPort.address(0))
      let (port, packets) = (socket.port, Collected<[UInt8]>())
      (self.port, self.packets) = (port, packets)
      server = try ScriptedServer { client in
        client.openQoS()
        while case let line = client.text(), !line.isEmpty {
          let parts = line.components(separatedBy: " +ID")
          if parts.count == 2, let text = reply(parts[0], port) { client.send("\(text) +ID\(parts[1])\n") }
        }
      }
      Thread.detachNewThread { [weak self] in
        while self?.isOver.withLock({ $0 }) == false {
          var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
          guard poll(&entry, 1, 50) > 0, let (packet, sender) = socket.receive() else { continue }
          packets.append(packet)
          for answer in answers(packet, packets.all.count) { socket.send(answer, to: sender) }
        }
      }
    }

    deinit { isOver.withLock { $0 = true } }

    var received: [[UInt8]] { packets.all }
  }

  private static func answered(_ packet: [UInt8]) -> [UInt8] { [2] + packet[1...] }

  @Test("When answers are repeated, foreign, cut or of another uuid, then only the right ones count")
  func udpAnswers() throws {
    let peer = try Peer { command, port in
      command.hasPrefix("GET UDPRESULT") ? "RCV 3 0 {}" : "OK"
    } answers: { packet, _ in
      let right = Self.answered(packet)
      let otherUUID = Array(right[..<2]) + [UInt8](repeating: 0x2D, count: 36) + right[38...]
      return [packet, otherUUID, Array(right.dropLast()), right, right]
    }
    let connection = try peer.server.connect()
    let test = UDPTest(
      QoSParameters(["out_port": "\(peer.port)", "out_num_packets": "3", "delay": "20000000", "timeout": "1000000000"]))
    let finding = try test.measure(try LoopbackPort.context(connection))
    #expect(finding.out?.received == 3 && finding.out?.answered == 3)
    #expect(finding.out?.roundTrips.keys.sorted() == [0, 1, 2])
    let sent = peer.received.compactMap { UDPProbe($0) }
    #expect(sent.map(\.number) == [0, 1, 2])
    #expect(
      sent.allSatisfy { $0.flag == .answerWanted && $0.uuid == UDPProbe.uuid(of: try! MeasurementToken("u_1_x")) })
    connection.close()
  }

  @Test("When the server counts fewer packets than it answered, then the answered ones count as received")
  func serverCounts() throws {
    let peer = try Peer { command, _ in
      command.hasPrefix("GET UDPRESULT") ? "RCV 2 1 {}" : "OK"
    } answers: { packet, _ in
      [Self.answered(packet)]
    }
    let connection = try peer.server.connect()
    let test = UDPTest(QoSParameters(["out_port": "\(peer.port)", "out_num_packets": "4", "delay": "10000000"]))
    let (status, members) = test.result(try LoopbackPort.context(connection))
    #expect(status == .ok)
    let text = JSON.object(members).text
    #expect(text.contains(#""udp_result_out_num_packets":4,"udp_result_out_response_num_packets":4"#))
    #expect(text.contains(#""udp_result_out_packet_loss_rate":"0""#))
    connection.close()
  }

  @Test(
    "When the server refuses the test, or its count is invalid, then the test is an ERROR without packets",
    arguments: [("ERR ILLARG 5", "RCV 1 0 {}"), ("OK", "ERR"), ("OK", "RCV -5 0"), ("", "")])
  func udpRefused(reply: String, count: String) throws {
    let peer = try Peer { command, _ in
      command.hasPrefix("GET") ? count : reply
    } answers: { packet, _ in
      [Self.answered(packet)]
    }
    let connection = try peer.server.connect()
    let test = UDPTest(QoSParameters(["out_port": "\(peer.port)", "out_num_packets": "1", "timeout": "500000000"]))
    let (status, members) = test.result(try LoopbackPort.context(connection))
    #expect(status == .error)
    #expect(JSON.object(members).text.contains(#""udp_result_out_packet_loss_rate":"100""#))
    connection.close()
  }

  @Test("When the server does not count the answers, then its packets that arrived count all the same")
  func countMissing() throws {
    let peer = try Peer { command, _ in
      guard command.hasPrefix("UDPTEST IN") else { return "ERR" }
      let port = UInt16(command.split(separator: " ")[2]) ?? 0
      let uuid = UDPProbe.uuid(of: try! MeasurementToken("u_1_x"))
      let socket = try? DatagramSocket(on: LoopbackPort.address(0))
      for number: UInt8 in 0..<2 {
        let probe = UDPProbe(flag: .silent, number: number, uuid: uuid, time: 0)
        socket?.send(probe.bytes, to: LoopbackPort.address(port))
      }
      return nil
    } answers: { _, _ in
      []
    }
    let connection = try peer.server.connect()
    let test = UDPTest(QoSParameters(["in_num_packets": "2", "timeout": "1000000000"]))
    let (status, members) = test.result(try LoopbackPort.context(connection))
    #expect(status == .ok)
    let text = JSON.object(members).text
    #expect(text.contains(#""udp_result_in_num_packets":2,"udp_result_in_packet_loss_rate":"0""#))
    connection.close()
  }

  @Test("Edge 44: when packets come from another address than the server's, then they are not counted")
  func foreignSender() throws {
    let port = Mutex(UInt16(0))
    let peer = try Peer { command, _ in
      if command.hasPrefix("UDPTEST IN") {
        port.withLock { $0 = UInt16(command.split(separator: " ")[2]) ?? 0 }
        let uuid = UDPProbe.uuid(of: try! MeasurementToken("u_1_x"))
        for (host, number) in [(UInt32(0x7F00_0002), UInt8(0)), (0x7F00_0001, 1)] {
          let socket = try? DatagramSocket(on: LoopbackPort.address(0, host: host))
          let probe = UDPProbe(flag: .silent, number: number, uuid: uuid, time: 0)
          socket?.send(probe.bytes, to: LoopbackPort.address(port.withLock { $0 }))
        }
        return nil
      }
      return "RCV 0 0 {}"
    } answers: { _, _ in
      []
    }
    let connection = try peer.server.connect()
    let test = UDPTest(QoSParameters(["in_num_packets": "2", "timeout": "300000000"]))
    let finding = try test.measure(try LoopbackPort.context(connection))
    #expect(finding.back?.received == 1)
    connection.close()
  }

  @Test(
    "Edge 43: when a call runs, then each packet has the server's SSRC, and the figures are only of packets that have it"
  )
  func call() throws {
    let source: UInt32 = 0xFFFF_FFFE
    let peer = try Peer { command, _ in
      // As some servers write it: with a sign.
      command.hasPrefix("VOIPTEST") ? "OK -2" : "VOIPRESULT 1 2 3 4 5 0 5 5 0 0"
    } answers: { packet, _ in
      guard let sent = RTPPacket(packet) else { return [] }
      let other = RTPPacket(
        isMarked: false, payloadType: 8, sequence: sent.sequence, timestamp: sent.timestamp, source: 7)
      return [other.bytes(payload: []), packet, [1, 2, 3]]
    }
    let connection = try peer.server.connect()
    let test = VoIPTest(
      QoSParameters(["out_port": "\(peer.port)", "call_duration": "100000000", "delay": "20000000"]),
      firstSequence: 65_533)
    let finding = try test.measure(try LoopbackPort.context(connection))
    #expect(finding.out.packets == 5 && finding.back.packets == 5)
    #expect(finding.back.sequenceErrors == 0 && finding.back.longestRun == 5)
    let sent = peer.received.compactMap { RTPPacket($0) }
    #expect(sent.map(\.sequence) == [65_533, 65_534, 65_535, 0, 1])
    #expect(sent.map(\.timestamp) == [0, 160, 320, 480, 640])
    #expect(sent.map(\.isMarked) == [true, false, false, false, false])
    #expect(sent.allSatisfy { $0.source == source && $0.payloadType == 8 })
    #expect(peer.received.allSatisfy { $0.count == 172 })
    // A payload that can be compressed would make the link look better.
    #expect(Set(peer.received.map { Array($0[12...]) }).count == 5)
    connection.close()
  }

  @Test(
    "When the server's replies to a call are invalid, then the test is an ERROR",
    arguments: [
      ("OK", "VOIPRESULT 1 2 3 4 5 6 7 8"), ("OK 99999999999", ""), ("OK x", ""), ("ERR", ""), ("OK 1", "ERR"),
    ])
  func callRefused(reply: String, result: String) throws {
    let peer = try Peer { command, _ in
      command.hasPrefix("VOIPTEST") ? reply : result
    } answers: { packet, _ in
      [packet]
    }
    let connection = try peer.server.connect()
    let test = VoIPTest(QoSParameters(["out_port": "\(peer.port)", "call_duration": "40000000"]))
    #expect(test.result(try LoopbackPort.context(connection)).status == .error)
    connection.close()
  }

  @Test("When a middlebox changes lines, then they are read without CR, truncated, and with invalid bytes replaced")
  func oddLines() throws {
    func line(_ text: [UInt8]) throws -> String {
      var ends: [Int32] = [0, 0]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      _ = send(ends[1], text, text.count, 0)
      close(ends[1])
      return try LineExchange(socket: PlainSocket(descriptor: ends[0]), waiting: LoopbackPort.waiting()).receive()
    }
    #expect(try line(Array("PING\r\nmore\n".utf8)) == "PING")
    #expect(try line(Array("no end".utf8)) == "no end")
    #expect(try line(Array("\n".utf8)) == "")
    #expect(try line([0x41, 0xFF, 0x42, 0x0A]) == "A\u{FFFD}B")
    #expect(try line([UInt8](repeating: 0x41, count: 9000)).count == 4096)
    #expect(throws: SpeedTestError.closed) { try line([]) }
  }

  @Test("When an address gets another port, then its host stays, for IPv4 and IPv6")
  func ports() throws {
    for (family, host) in [(IPVersion.ipv4, "127.0.0.1"), (.ipv6, "::1")] {
      let address = try #require(try Addresses(host: host, port: 258, family: family).list.first)
      #expect(address.port == 258 && address.host == host)
      let other = address.with(port: 0xABCD)
      #expect(other.port == 0xABCD && other.host == host)
      #expect(other.with(port: 258) == address)
    }
    let error = #expect(throws: SpeedTestError.self) {
      try Addresses(host: "127.0.0.1\0.example", port: 1, family: nil)
    }
    #expect(error?.unresolvedName == "127.0.0.1\0.example")
  }
}
