import Synchronization
import TestSupport
import Testing

@testable import Submission

/// Cancelled requests, and whether the server may have them.
struct CancellationSlowTests {
  @Test("when the request is cancelled during the TLS handshake, then the failure says that nothing was sent")
  func handshake() async throws {
    let isReceived = Atomic(false)
    let server = try ScriptedServer { client in
      while !client.bytes().isEmpty { isReceived.store(true, ordering: .relaxed) }
    }
    let url = "https://127.0.0.1:\(server.port)"
    try await ClientSlowTests().withClient(of: url, timeout: .seconds(60)) { client in
      let request = Task { try await client.settings(clientUUID: nil) }
      _ = try await eventually("the handshake begins") { isReceived.load(ordering: .relaxed) ? true : nil }
      request.cancel()
      let failure = await #expect(throws: ServerFailure.self) { try await request.value }
      #expect(failure == .unreachable("\(url): stopped before it was sent"))
    }
  }

  @Test("when the task is cancelled before the request, then no request leaves")
  func before() async throws {
    let tool = try await ControlServerTool()
    try await ClientSlowTests().withClient(of: tool.url) { client in
      let request = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.settings(clientUUID: nil)
      }
      let failure = await #expect(throws: ServerFailure.self) { try await request.value }
      #expect(failure == .unreachable("\(tool.url): stopped before it was sent"))
    }
    #expect(try await tool.requests(to: "settings").isEmpty)
    try await tool.program.stop()
  }

  @Test("when the request is cancelled while the server works, then the failure says that it may have arrived")
  func during() async throws {
    let tool = try await ControlServerTool()
    try await tool.setFault("hang:30", on: "settings")
    try await ClientSlowTests().withClient(of: tool.url, timeout: .seconds(60)) { client in
      let request = Task { try await client.settings(clientUUID: nil) }
      _ = try await eventually("the server has the request") {
        try await tool.requests(to: "settings").isEmpty ? nil : true
      }
      request.cancel()
      let failure = await #expect(throws: ServerFailure.self) { try await request.value }
      #expect(failure == .noAnswer("\(tool.url): stopped before it answered"))
    }
    try await tool.program.stop()
  }
}
