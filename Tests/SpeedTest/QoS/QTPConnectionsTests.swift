import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SpeedTest

/// The connections of a run. Edges are those of docs/protocol.md, 9.
@Suite struct QTPConnectionsTests {
  /// The lines of each connection, as servers received them.
  private final class Log: Sendable {
    let connections = Mutex<[[String]]>([])

    func open() -> Int {
      connections.withLock {
        $0.append([])
        return $0.count - 1
      }
    }

    func add(_ line: String, to index: Int) { connections.withLock { $0[index].append(line) } }
  }

  /// A server that replies OK to the first `last` commands.
  private func server(_ log: Log, last: Int = .max) throws -> ScriptedServer {
    try ScriptedServer { client in
      let index = log.open()
      client.openQoS()
      for number in 0... {
        let line = client.text()
        guard !line.isEmpty, number < last else { return }
        log.add(line, to: index)
        client.send("OK +ID\(line.components(separatedBy: " +ID").last ?? "")\n")
      }
    }
  }

  private func place(_ server: ScriptedServer) throws -> QoSServer {
    try #require(QoSServer(QoSParameters(["server_addr": "127.0.0.1", "server_port": "\(server.port)"])))
  }

  private func connections() throws -> QTPConnections {
    var plan = QoSPlan(
      objectives: try QoSObjectives(Data(#"{"objectives":{}}"#.utf8)), token: try MeasurementToken("u_1_x"))
    plan.encryption = .never
    return QTPConnections(plan, source: nil)
  }

  @Test(
    "Edge 46: when tests of one server ask for its connection at once, then they share one, and its idle time is set first"
  )
  func shared() async throws {
    let log = Log()
    let server = try server(log)
    let (connections, place) = (try connections(), try place(server))
    let all = try await withThrowingTaskGroup(of: QTPConnection.self) { group in
      for _ in 0..<4 {
        group.addTask { try connections.connection(to: place, idle: 33_000_000_000, LoopbackPort.waiting()) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(all.allSatisfy { $0 === all[0] })
    #expect(log.connections.withLock { $0 } == [["REQUEST CONN TIMEOUT 33000 +ID1"]])
    connections.close()
    #expect(!all[0].isOpen)
  }

  @Test("When the idle time is out of the servers' range, then it is clamped")
  func idleRange() throws {
    for (idle, text) in [(Int64(0), "15000"), (.max, "60000"), (.min, "15000")] {
      let log = Log()
      let server = try server(log)
      let connections = try connections()
      _ = try connections.connection(to: try place(server), idle: idle, LoopbackPort.waiting())
      #expect(log.connections.withLock { $0 } == [["REQUEST CONN TIMEOUT \(text) +ID1"]])
      connections.close()
    }
  }

  @Test("When there are two servers, then each has its connection")
  func twoServers() throws {
    let (first, second) = (Log(), Log())
    let servers = [try server(first), try server(second)]
    let connections = try connections()
    let open = try servers.map { try connections.connection(to: try place($0), idle: 0, LoopbackPort.waiting()) }
    #expect(open[0] !== open[1])
    #expect(open[0].peer.port == servers[0].port && open[1].peer.port == servers[1].port)
    connections.close()
  }

  @Test("When a server has closed, then the next test gets a new connection")
  func reopened() async throws {
    let log = Log()
    let server = try server(log, last: 1)
    let (connections, place) = (try connections(), try place(server))
    let first = try connections.connection(to: place, idle: 0, LoopbackPort.waiting())
    #expect(throws: SpeedTestError.closed) { try first.request(.udpPort, until: LoopbackPort.now() + 20_000_000_000) }
    let second = try connections.connection(to: place, idle: 0, LoopbackPort.waiting())
    #expect(first !== second && second.isOpen)
    #expect(log.connections.withLock { $0.count } == 2)
    connections.close()
  }

  @Test("When a run has ended, then a connection that is opened later is closed again")
  func afterTheEnd() async throws {
    let log = Log()
    let server = try server(log)
    let connections = try connections()
    connections.close()
    #expect(throws: SpeedTestError.aborted) {
      try connections.connection(to: try self.place(server), idle: 0, LoopbackPort.waiting())
    }
    _ = try await eventually("QUIT") { log.connections.withLock { $0.first?.last == "QUIT" ? true : nil } }
  }

  @Test("When a server is slow to greet, then callers that wait for the first one keep their own time limit")
  func slowServer() async throws {
    let server = try ScriptedServer { client in _ = client.text() }
    let (connections, place) = (try connections(), try place(server))
    let ends = Mutex<[(status: QoSStatus?, time: Int64)]>([])
    for _ in 0..<3 {
      Thread.detachNewThread {
        let start = LoopbackPort.now()
        var status: QoSStatus?
        do throws(SpeedTestError) {
          _ = try connections.connection(to: place, idle: 0, LoopbackPort.waiting(seconds: 1))
        } catch {
          status = QoSStatus(error)
        }
        ends.withLock { $0.append((status, LoopbackPort.now() - start)) }
      }
    }
    let all = try await eventually("three ends") { ends.withLock { $0.count == 3 ? $0 : nil } }
    #expect(all.allSatisfy { $0.status == .timeout })
    // Waits in sequence, of up to 10 s for each greeting, would take longer.
    #expect(all.allSatisfy { $0.time < 9_000_000_000 })
  }
}
