import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Service

/// Commands to the service through its real socket.
struct ServiceTests {
  @Test("when no drive is wanted, then the service is idle, says why, and stores no session")
  func idle() async throws {
    try await ServiceRig.run { rig in
      let lines = try await rig.wait(for: "idle: waiting for a command")
      #expect(lines.contains("waiting to be sent: 0 fences in 0 sessions; 0 fences quarantined"))
      #expect(try rig.sessions().isEmpty)
    }
  }

  @Test("when start and stop are sent, then a drive begins and ends, and its session is stored")
  func startAndStop() async throws {
    try await ServiceRig.run { rig in
      #expect(try await rig.client.send(.start) == "start: recording (started by command)")
      try await rig.wait(for: "recording: started by command")
      let session = try await rig.waitForSession()
      #expect(try rig.sessions().first?.state(isWriterAlive: true) == .recording)
      #expect(try await rig.client.send(.stop) == "stop: not recording (stopped by command)")
      try await rig.wait(for: "idle: stopped by command")
      // A session without fences is deleted soon.
      let left = try rig.sessions().filter { $0.id == session && $0.session.finalized == nil }
      #expect(left.isEmpty)
      #expect(rig.log.messages.contains("a drive begins (started by command)"))
      #expect(rig.log.contains(" ended after 00:0"))
    }
  }

  @Test("when a pause ends, then a new drive begins")
  func pause() async throws {
    try await ServiceRig.run("agent: { record: always }") { rig in
      let first = try await rig.waitForSession()
      #expect(try await rig.client.send(.pause) == "pause: not recording (paused)")
      try await rig.wait(for: "idle: paused")
      #expect(try await rig.client.send(.resume) == "resume: recording (always recording)")
      _ = try await eventually("a second drive") { try rig.sessions().contains { $0.id > first } ? () : nil }
    }
  }

  @Test("when the service is stopped during a drive, then the end of the drive is stored, and the socket is removed")
  func stopDuringDrive() async throws {
    var ended: ServiceRig?
    try await ServiceRig.run("agent: { record: always }") { rig in
      ended = rig
      _ = try await rig.waitForSession()
    }
    let rig = try #require(ended)
    // A session without fences is deleted soon.
    #expect(try rig.sessions().allSatisfy { $0.session.finalized != nil })
    #expect(rig.log.contains(" ended after 00:0"))
    #expect(!FileManager.default.fileExists(atPath: rig.configuration.servicePath))
    let error = await #expect(throws: ServiceUnreachable.self) { try await rig.client.send(.start) }
    #expect(error?.reason == .absent)
  }

  @Test("when sessions are forgotten, then a recorded one is deleted once, and the one being recorded is refused")
  func forget() async throws {
    try await ServiceRig.run(preparing: { try $0.recordDrive() }) { rig in
      _ = try await rig.client.send(.start)
      _ = try await eventually("the drive's session") { try rig.sessions().count == 2 ? () : nil }
      var (line, outcome) = try await rig.client.forget(.session(2))
      #expect(line == "session 2 is being recorded; stop the drive first (coverage-probe stop)")
      #expect(outcome == .failed)
      (line, outcome) = try await rig.client.forget(.session(1))
      #expect(line == "session 1 with 2 fences is deleted here; the server keeps fences that were sent")
      #expect(outcome == .done)
      #expect(try rig.sessions().map(\.id) == [2])
      (line, outcome) = try await rig.client.forget(.session(1))
      #expect(line == "there is no session 1; coverage-probe sessions lists them")
      #expect(outcome == .failed)
    }
  }

  @Test("when the control server cannot be reached, then submit says so, and the fences stay")
  func submitToNowhere() async throws {
    try await ServiceRig.run(preparing: { try $0.recordDrive() }) { rig in
      let (line, outcome) = try await rig.client.submit(.cold, .commanded)
      #expect(line.hasPrefix("submitted 0 fences in 0 sessions; 1 session kept for later (coverage-probe submit): "))
      #expect(line.contains("cannot reach the control server http://127.0.0.1:9/"))
      #expect(outcome == .kept)
      let lines = try await rig.wait(for: "idle: waiting for a command")
      #expect(lines.contains("waiting to be sent: 2 fences in 1 session; 0 fences quarantined"))
      #expect(lines.contains { $0.hasPrefix("last pass (") })
    }
  }

  @Test("when a file is at the socket's path, then the service ends with the remedy, and leaves the file")
  func impossibleSocket() async throws {
    let folder = try TemporaryFolder()
    let notes = try folder.write("precious", to: "notes")
    let error = await #expect(throws: ServiceSocketError.self) {
      try await ServiceRig.run("agent: { record: always, socket: \"\(notes)\" }") { _ in }
    }
    let line = try #require(error).description
    #expect(
      line == "cannot take commands at \(notes): there is something that is no socket; set agent.socket to another path"
    )
    #expect(try String(contentsOfFile: notes, encoding: .utf8) == "precious")
  }
}
