import Coverage
import Foundation
import TestSupport
import Testing

@testable import Driving
@testable import Service

/// A real service beside a service manager's socket.
struct ServiceManagerTests {
  @Test("when a service starts, reads its configuration again and stops, then its manager gets each message in order")
  func course() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("notify")
    let manager = try ManagerSocket(name: Array(path.utf8))
    let variables = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000000"]
    var seen: [String] = []
    func wait(for text: String) async throws {
      _ = try await eventually("the manager gets \(text)") { () -> Void? in
        while let message = manager.next() { seen.append(message) }
        return seen.contains { $0.contains(text) } ? () : nil
      }
    }
    try await ServiceRig.run(variables: variables) { rig in
      try await wait(for: "READY=1")
      // The status text may arrive before the command socket exists.
      let lines = seen.flatMap { $0.split(separator: "\n") }
      #expect(Set(lines) == ["READY=1", "STATUS=idle: waiting for a command", "WATCHDOG=1"])
      #expect(lines.count == 3)
      seen = []
      try await wait(for: "WATCHDOG=1")
      #expect(seen == ["WATCHDOG=1"])
      seen = []
      try rig.reload(replacing: "record: command", with: "record: moving")
      try await wait(for: "READY=1")
      let reload = try #require(seen.firstIndex { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
      let ready = try #require(seen.firstIndex { $0.hasPrefix("READY=1") })
      #expect(reload < ready)
      let now = try #require(UInt64(seen[reload].split(separator: "=")[2]))
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      let seconds = UInt64(time.tv_sec)
      #expect(now / 1_000_000 <= seconds && now / 1_000_000 + 60 > seconds)
      seen = []
    }
    try await wait(for: "STOPPING=1")
    #expect(!seen.contains { $0.contains("READY=1") })
  }

  @Test("when the manager gets the status, which every user can read, then it has no position and names each problem")
  func words() {
    var status = ServiceStatus(started: .sampleStart)
    status.state = .recording
    status.reason = "moving"
    status.receiver.fix = Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738))
    status.disk.trouble = "No space left on device"
    status.disk.unsavedFences = 2
    status.links = [DriveStatus()]
    status.links[0].fix = status.receiver.fix
    status.links[0].fences = 3
    status.links[0].warnings = ["waiting for a test"]
    #expect(
      status.words == "recording: moving; 3 fences, no technology; waiting for a test; disk: No space left on device; "
        + "2 fences in memory only")
  }
}
