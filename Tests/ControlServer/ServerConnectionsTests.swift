import Testing

@testable import ControlServer

struct ServerConnectionsTests {
  @Test("when a client ends without a shutdown, as after an error, then the process goes on")
  func ended() throws {
    // AsyncHTTPClient ends the process for a client that was not shut down.
    for _ in 0..<3 { _ = ServerConnections(.init()) }
  }

  @Test("when it is shut down, then a second shutdown is an error")
  func twice() async throws {
    let connections = ServerConnections(.init())
    try await connections.shutdown()
    await #expect(throws: (any Error).self) { try await connections.shutdown() }
  }
}
