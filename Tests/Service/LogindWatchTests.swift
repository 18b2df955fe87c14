#if canImport(CSystemd)
  import Foundation
  import TestSupport
  import Testing

  @testable import Service
  @testable import SystemServices

  /// logind's locks and signals over a real message bus.
  @Suite(.enabled(if: Logind.isInstalled, "needs dbus and python3-dbusmock (tools/setup test)"))
  struct LogindWatchTests {
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

    @Test("when another user of the host sends the sleep signals, then they are ignored; only logind's count")
    func foreignSignal() async throws {
      let logind = try await Logind(in: folder)
      try await ServiceRig.run("agent: { record: always }", busAddress: logind.address) { rig in
        _ = try await rig.waitForSession()
        try await rig.log.wait(for: "logind delays sleep until the drive is on the disk")
        let stranger = try RunningProgram(
          URL(filePath: "/usr/bin/python3"), ["-c", Self.stranger],
          environment: ["DBUS_SYSTEM_BUS_ADDRESS": logind.address])
        #expect(try await stranger.exitStatus() == 0, "\(stranger.standardError)")
        #expect(
          Int(stranger.standardOutput.trimmingCharacters(in: .newlines)) ?? 0 >= 2,
          "logind and the service both get the signals")
        // The bus keeps order: the stranger's two signals arrive before logind's.
        logind.sleep()
        _ = try await logind.program.line(after: "released 1")
        #expect(rig.log.messages.filter { $0.hasPrefix("the host sleeps") }.count == 1, "\(rig.log.messages)")
        #expect(!rig.log.contains("the host is awake"))
      }
    }

    /// Sends logind's signals to each connection by its unique name, which bypasses match rules, and prints the number of receivers.
    private static let stranger = """
      import dbus, dbus.lowlevel
      bus = dbus.SystemBus()
      others = [name for name in bus.list_names() if name.startswith(":") and name != bus.get_unique_name()]
      for sleeps in True, False:
          for name in others:
              signal = dbus.lowlevel.SignalMessage(
                  "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep")
              signal.append(dbus.Boolean(sleeps))
              signal.set_destination(name)
              bus.send_message(signal)
      bus.flush()
      # The bus answers after it has delivered the signals.
      bus.list_names()
      print(len(others))
      """

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
