import Foundation
import TestSupport
import Testing

@testable import Service

/// What the service does when it reads its configuration again (docs/service.md, Signals).
struct ServiceReloadTests {
  @Test("when a reload has a mistake, then the log names it, and the service goes on as before")
  func mistake() async throws {
    try await ServiceRig.run { rig in
      try rig.reload(replacing: "record: command", with: "record: often")
      try await rig.log.wait(
        for:
          "agent.record is \"often\": expected always, moving or command; the service goes on with its present settings"
      )
      try rig.reload(replacing: "record: often", with: "recrod: always")
      try await rig.log.wait(for: "agent.recrod")
      #expect(try await rig.client.send(.resume) == "resume: not recording (waiting for a command)")
    }
  }

  @Test("when a reload makes the service record, then a drive begins without a command")
  func atOnce() async throws {
    try await ServiceRig.run { rig in
      try rig.reload(replacing: "record: command", with: "record: always, resend-interval: 20m")
      try await rig.log.wait(for: "the configuration is read again; at once: agent.record")
      try await rig.log.wait(
        for: "the configuration is read again; after a restart of the service: agent.resend-interval")
      try await rig.wait(for: "recording: always recording")
    }
  }

  @Test("when a reload ends the reason to record, then the running drive ends")
  func endsDrive() async throws {
    try await ServiceRig.run("agent: { record: always }") { rig in
      _ = try await rig.waitForSession()
      try rig.reload(replacing: "record: always", with: "record: command")
      try await rig.wait(for: "idle: waiting for a command")
      #expect(try rig.sessions().allSatisfy { $0.session.finalized != nil })
    }
  }

  @Test("when nothing has changed, then the log says so")
  func nothing() async throws {
    try await ServiceRig.run { rig in
      rig.hangUp()
      try await rig.log.wait(for: "the configuration is read again; nothing has changed in it")
    }
  }

  @Test("when the file is gone or is a pipe, then the service goes on as before")
  func unreadable() async throws {
    try await ServiceRig.run { rig in
      try FileManager.default.removeItem(atPath: rig.file)
      rig.hangUp()
      try await rig.log.wait(for: "; the service goes on with its present settings")
      try #require(mkfifo(rig.file, 0o600) == 0)
      rig.hangUp()
      try await rig.log.wait(
        for: "configuration \(rig.file) cannot be read again; the service goes on with its present settings")
      try await rig.wait(for: "idle: waiting for a command")
    }
  }

  @Test("when the file is no text, too long or empty, then the service answers as before", arguments: [0, 1, 2, 3])
  func strange(kind: Int) async throws {
    try await ServiceRig.run { rig in
      let data = [
        Data([0xFF, 0xFE, 0x00, 0x80]), Data(repeating: UInt8(ascii: "#"), count: 2 << 20), Data("- [\n".utf8),
        Data(),
      ][kind]
      try data.write(to: URL(fileURLWithPath: rig.file))
      rig.hangUp()
      try await rig.log.wait(for: "; the service goes on with its present settings")
      try await rig.wait(for: "idle: waiting for a command")
    }
  }
}
