import Foundation
import TestSupport
import Testing

@testable import Service

/// Which connections stay when there are too many.
struct ConnectionPlacesTests {
  private final class Connection {}

  private let connections = (0..<8).map { _ in Connection() }
  private func id(_ index: Int) -> ObjectIdentifier { ObjectIdentifier(connections[index]) }

  @Test("when a peer has too many, then its oldest one goes, and no other peer's")
  func ofPeer() {
    var places = ConnectionPlaces<String>(most: 8, mostOfPeer: 2)
    #expect(places.open(id(0), from: "owner") == nil)
    #expect(places.open(id(1), from: "stranger") == nil)
    #expect(places.open(id(2), from: "stranger") == nil)
    #expect(places.open(id(3), from: "stranger") == id(1))
    places.close(id(2))
    #expect(places.open(id(4), from: "stranger") == nil)
  }

  @Test("when there are too many of all peers, then the oldest one of the peer that has most goes")
  func total() {
    var places = ConnectionPlaces<String>(most: 3, mostOfPeer: 2)
    #expect(places.open(id(0), from: "a") == nil)
    #expect(places.open(id(1), from: "b") == nil)
    #expect(places.open(id(2), from: "b") == nil)
    #expect(places.open(id(3), from: "c") == id(1))
    #expect(places.count == 3)
  }

  @Test("when connections are trusted, then they stay and do not count for their peer; without others a new one goes")
  func trusted() {
    var places = ConnectionPlaces<String>(most: 3, mostOfPeer: 1)
    for index in 0..<2 {
      #expect(places.open(id(index), from: "owner") == nil)
      places.trust(id(index))
    }
    #expect(places.open(id(2), from: "owner") == nil)
    #expect(places.open(id(3), from: "stranger") == id(2))
    places.trust(id(3))
    #expect(places.open(id(4), from: "owner") == id(4))
    #expect(places.count == 3)
  }
}

/// How peers with IPv6 addresses are told apart.
struct PeerNetworkTests {
  private func network(_ head: [UInt8], _ tail: [UInt8]) -> [UInt8] {
    ServerConnections.network(ofIPv6: head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail)
  }

  @Test("when a peer has a mapped IPv4 address, then the peer is that address; of IPv6 it is the network of 64 bits")
  func networks() {
    #expect(network([], [0xFF, 0xFF, 192, 0, 2, 1]) == [192, 0, 2, 1])
    #expect(network([], [0xFF, 0xFF, 192, 0, 2, 2]) == [192, 0, 2, 2])
    #expect(network([], [1]).count == 16)
    #expect(network([0x20, 1, 0xD, 0xB8], [1]) == [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0])
  }
}

/// The service's socket beside peers that hold connections open.
struct ServerConnectionsTests {
  /// Runs `body` beside a real socket, whose user here counts as any member of the group would.
  private func withSocket(headLimit: Duration, _ body: (String) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("agent.sock")
    let socket = ServiceSocket(
      path: path, service: ScriptedService(outcome: .done), logger: LogLines().logger, headLimit: headLimit)
    let (readiness, ready) = AsyncStream<Void>.makeStream()
    let running = Task {
      defer { ready.finish() }
      try await socket.run { ready.yield() }
    }
    for await _ in readiness { break }
    let result: Result<Void, any Error>
    do { result = .success(try await body(path)) } catch { result = .failure(error) }
    running.cancel()
    _ = await running.result
    try result.get()
  }

  @Test("when a peer sends no whole head, then its connection ends after the limit", arguments: ["", "GET /status HT"])
  func silent(bytes: String) async throws {
    try await withSocket(headLimit: .milliseconds(100)) { path in
      let answer = try await RawSocket.ask(path, Array(bytes.utf8))
      #expect(answer.isEmpty)
    }
  }

  @Test("when a peer announces a body and sends none, then its connection ends after the limit")
  func bodiless() async throws {
    try await withSocket(headLimit: .milliseconds(100)) { path in
      _ = try await RawSocket.ask(path, Array("POST /start HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n".utf8))
    }
  }

  @Test("when metrics are read, then the answer says in which format they are")
  func contentType() async throws {
    try await withSocket(headLimit: .seconds(10)) { path in
      let metrics = try await RawSocket.ask(path, "GET /metrics HTTP/1.1")
      #expect(
        metrics.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), "\(metrics.prefix(300))")
      let status = try await RawSocket.ask(path, "GET /status HTTP/1.1")
      #expect(status.contains("\r\nContent-Type: application/json\r\n"))
    }
  }
}
