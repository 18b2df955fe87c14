#if canImport(CSystemd)
  import Foundation
  import TestSupport
  import Testing

  @testable import Agent

  /// logind's locks and signals over a real message bus.
  @Suite(.enabled(if: Logind.isInstalled, "needs dbus and python3-dbusmock (tools/setup test)"))
  struct SleepWatchTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("when the host sleeps in mid-drive, then logind waits until the drive is on the disk; then the drive goes on")
    func drive() async throws {
      let logind = try await Logind(in: folder)
      try await ServiceRig.run("agent: { record: always }", busAddress: logind.address) { rig in
        _ = try await rig.waitForSession()
        #expect(try await logind.program.line(after: "lock 1: ") == "sleep coverage-probe delay.")
        try await rig.log.wait(for: "logind delays sleep until the drive is on the disk")
        logind.sleep()
        _ = try await logind.program.line(after: "released 1")
        #expect(rig.log.contains("the host sleeps: no pings until it is awake"))
        #expect(!rig.log.contains("the host is awake"))
        logind.wake()
        _ = try await logind.program.line(after: "lock 2: ")
        try await rig.log.wait(for: "the host is awake: the drive goes on")
        try await rig.wait(for: "recording: always recording")
      }
    }

    @Test("when logind refuses the lock, then one line says so, and the drive goes on")
    func refused() async throws {
      let logind = try await Logind(in: folder, refuses: true)
      try await ServiceRig.run("agent: { record: always }", busAddress: logind.address) { rig in
        try await rig.log.wait(for: "sleep: logind cannot delay sleep for this program: Permission denied")
        try await rig.wait(for: "recording: always recording")
      }
    }

    @Test("when there is no bus, or it ends during a sleep, then one line says so, and the drive goes on")
    func noBus() async throws {
      try await ServiceRig.run("agent: { record: always }", busAddress: "unix:path=\(folder.file("none"))") { rig in
        try await rig.log.wait(for: "sleep: the system bus cannot be used")
        try await rig.wait(for: "recording: always recording")
      }
      let logind = try await Logind(in: folder)
      try await ServiceRig.run("agent: { record: always }", busAddress: logind.address) { rig in
        _ = try await rig.waitForSession()
        try await rig.log.wait(for: "logind delays sleep until the drive is on the disk")
        logind.sleep()
        try await rig.log.wait(for: "the host sleeps")
        try await logind.endBus()
        try await rig.log.wait(for: "the host is awake: the drive goes on")
      }
    }
  }
#endif
