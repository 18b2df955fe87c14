import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SpeedTest

/// A control connection against a scripted server. Edges are those of docs/protocol.md, 9.
@Suite struct QTPConnectionTests {
  @Test("Edge 41: when two commands wait and replies come in reverse, then each caller gets its own")
  func reverse() async throws {
    let server = try ScriptedServer { client in
      client.openQoS()
      let (first, second) = (client.text(), client.text())
      for line in [second, first] {
        let port = line.split(separator: " ")[2]
        client.send("PORT \(port) +ID\(line.components(separatedBy: " +ID")[1])\n")
      }
      _ = client.text()
    }
    let connection = try server.connect()
    // Threads: two tasks that wait for each other could share one.
    let answers = Mutex<[UInt16: String]>([:])
    for port: UInt16 in [1111, 2222] {
      Thread.detachNewThread {
        let reply = try? connection.request(.tcpOut(port: port), until: LoopbackPort.now() + 20_000_000_000)
        answers.withLock { $0[port] = reply ?? "none" }
      }
    }
    let replies = try await eventually("both replies") { answers.withLock { $0.count == 2 ? $0 : nil } }
    #expect(replies == [1111: "PORT 1111", 2222: "PORT 2222"])
    connection.close()
  }

  @Test(
    "When the server accepts no more bytes, then the connection closes: a command could follow half of another one")
  func partialWrite() throws {
    let release = DispatchSemaphore(value: 0)
    let server = try ScriptedServer { client in
      client.openQoS()
      release.wait()
    }
    defer { release.signal() }
    let connection = try server.connect()
    let full = SpeedTestError.timeout("the QoS server takes no bytes")
    #expect(throws: full) { for _ in 0..<10_000_000 { try connection.order(.tcpIn(port: 1)) } }
    #expect(!connection.isOpen)
    #expect(throws: full) { try connection.order(.tcpIn(port: 1)) }
  }

  @Test("When a reply is split over segments, or shares one with others, then it is still read")
  func segments() throws {
    let server = try ScriptedServer { client in
      for part in ["QoSS", "P0.1\nACC", "EPT [TOKEN string]\n"] { client.send(part) }
      _ = client.text()
      client.send("OK\nACCEPT [A|B]\n")
      let id = client.id()
      client.send("STRAY +ID99\n10")
      client.send("218 +ID\(id)\n")
      _ = client.text()
    }
    let connection = try server.connect()
    #expect(try connection.request(.udpPort, until: LoopbackPort.now() + 20_000_000_000) == "10218")
    connection.close()
  }

  @Test("When a count is longer than a line of a speed test may be, then it is still read")
  func longLine() throws {
    let pairs = (0..<1000).map { "\"\($0)\":\(1_000_000 + $0)" }.joined(separator: ",")
    let server = try ScriptedServer { client in
      client.openQoS()
      let id = client.id()
      client.send("RCV 1000 0 {\(pairs)} +ID\(id)\n")
      _ = client.text()
    }
    let connection = try server.connect()
    let reply = try connection.request(.udpResultOut(port: 1), until: LoopbackPort.now() + 20_000_000_000)
    #expect(UDPCount(reply)?.roundTrips.count == 1000)
    connection.close()
  }

  @Test("When a reply does not come, then only its command times out, and the connection serves the next one")
  func timeout() throws {
    let server = try ScriptedServer { client in
      client.openQoS()
      while case let line = client.text(), !line.isEmpty {
        guard line.hasPrefix("NTPTEST 6 ") else { continue }
        client.send("OK +ID\(line.components(separatedBy: " +ID").last ?? "")\n")
      }
    }
    let connection = try server.connect()
    #expect(throws: SpeedTestError.timeout("NTPTEST 5")) {
      try connection.request(.proxy(port: 5), until: LoopbackPort.now() + 100_000_000)
    }
    #expect(try connection.request(.proxy(port: 6), until: LoopbackPort.now() + 20_000_000_000) == "OK")
    connection.close()
  }

  @Test("When the server closes, then commands that wait fail at once, and later ones too")
  func closed() throws {
    let server = try ScriptedServer { client in
      client.openQoS()
      _ = client.text()
      client.send("ACCEPT [TCPTEST|UDPTEST]\n")
    }
    let connection = try server.connect()
    let (start, watch) = (LoopbackPort.now(), ProgressWatch())
    // An unknown command gets the list instead of a reply, and then the end.
    let reply = try? connection.request(.udpPort, until: start + 60_000_000_000)
    #expect(reply == nil || reply == "ACCEPT [TCPTEST|UDPTEST]")
    #expect(throws: SpeedTestError.closed) { try connection.request(.udpPort, until: start + 60_000_000_000) }
    #expect(watch.passed < .seconds(30))
    #expect(!connection.isOpen)
  }

  @Test("When the server closes after the token, then the token is refused")
  func tokenRefused() throws {
    let server = try ScriptedServer { client in
      client.send("QoSSP0.1\nACCEPT [TOKEN string]\n")
      _ = client.text()
    }
    #expect(throws: SpeedTestError.tokenRefused) { try server.connect() }
  }

  @Test("Edge 8: when the connection opens, then the token goes out exactly as it was issued")
  func token() async throws {
    let seen = Mutex("")
    let server = try ScriptedServer { client in
      client.send("QoSSP0.1\nACCEPT [TOKEN string]\n")
      let line = client.text()
      seen.withLock { $0 = line }
    }
    _ = try? server.connect()
    #expect(try await eventually("the token") { seen.withLock { $0.isEmpty ? nil : $0 } } == "TOKEN u_1_x")
  }

  @Test("When the client closes an idle connection, then it sends QUIT")
  func quit() async throws {
    let seen = Mutex("")
    let server = try ScriptedServer { client in
      client.openQoS()
      let line = client.text()
      seen.withLock { $0 = line }
    }
    try server.connect().close()
    #expect(try await eventually("QUIT") { seen.withLock { $0.isEmpty ? nil : $0 } } == "QUIT")
  }

  @Test("Edge 42: when our port cannot be bound, then the server is not asked to connect or send to it")
  func bindFirst() throws {
    let seen = Mutex<[String]>([])
    let server = try ScriptedServer { client in
      client.openQoS()
      while case let line = client.text(), !line.isEmpty { seen.withLock { $0.append(line) } }
    }
    let connection = try server.connect()
    let taken = try LineListener(on: LoopbackPort.address(0))
    let takenUDP = try DatagramSocket(on: LoopbackPort.address(0))
    let context = try LoopbackPort.context(connection)
    let tcp = TCPTest(QoSParameters(["in_port": "\(taken.port)"])).result(context)
    #expect(tcp.status == .error)
    let udp = UDPTest(QoSParameters(["in_port": "\(takenUDP.port)", "in_num_packets": "3"])).result(context)
    #expect(udp.status == .error)
    // The server sees earlier commands before this one.
    #expect(throws: SpeedTestError.self) { try connection.request(.udpPort, until: LoopbackPort.now() + 200_000_000) }
    #expect(seen.withLock { $0.allSatisfy { !$0.contains(" IN ") } })
    connection.close()
  }

  @Test("Edge 41: when the server is ordered to connect or send to the client, then the client waits for no reply")
  func ordersWithoutReply() throws {
    let server = try ScriptedServer { client in
      client.openQoS()
      let words = client.text().split(separator: " ")
      guard words.count > 2, let port = UInt16(words[2]),
        let socket = try? Dialer(waiting: LoopbackPort.waiting()).connect(LoopbackPort.address(port))
      else { return }
      try? LineExchange(socket: socket, waiting: LoopbackPort.waiting()).send("HELLO TO \(port)")
      _ = client.text()
    }
    let connection = try server.connect()
    let port = try LoopbackPort.free()
    let (status, members) = TCPTest(QoSParameters(["in_port": "\(port)"])).result(try LoopbackPort.context(connection))
    #expect(status == .ok)
    #expect(members.contains { $0.key == "tcp_result_in_response" && $0.value == .string("HELLO TO \(port)") })
    connection.close()
  }
}
