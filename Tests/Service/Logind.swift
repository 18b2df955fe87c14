#if canImport(CSystemd)
  import Foundation
  import TestSupport

  @testable import SystemServices

  /// A private message bus with a program that answers like logind.
  final class Logind: Sendable {
    static let daemon = "/usr/bin/dbus-daemon"
    static let python = "/usr/bin/python3"
    /// Whether the host has the programs; `tools/setup test` installs them.
    static let isInstalled =
      FileManager.default.isExecutableFile(atPath: daemon)
      && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbus")
      && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/gi")

    let address: String
    private let bus: RunningProgram
    let program: RunningProgram

    /// - Parameter refuses: Whether logind refuses locks, as polkit can make it do.
    init(in folder: TemporaryFolder, refuses: Bool = false) async throws {
      let socket = folder.file("bus")
      address = "unix:path=\(socket)"
      let configuration = try folder.write(
        """
        <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth><policy context="default">
        <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
        """, to: "bus.conf")
      bus = try RunningProgram(URL(filePath: Self.daemon), ["--config-file=\(configuration)", "--nofork"])
      _ = try await eventually("the bus answers") { [address] in
        try? SystemBus<SleepConversation.Purpose>(address: address, services: [])
      }
      let script = try folder.write(Self.script, to: "logind.py")
      program = try RunningProgram(
        URL(filePath: Self.python), ["-u", script, refuses ? "refuse" : "allow"],
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
      _ = try await program.line(after: "ready")
    }

    /// Announces the host's sleep.
    func sleep() { program.signal(SIGUSR1) }

    /// Announces the end of the sleep.
    func wake() { program.signal(SIGUSR2) }

    /// Ends the bus.
    func endBus() async throws { try await bus.stop() }

    private static let script = """
      import os, signal, sys
      import dbus, dbus.service
      from dbus.mainloop.glib import DBusGMainLoop
      from gi.repository import GLib

      DBusGMainLoop(set_as_default=True)
      bus = dbus.SystemBus()
      name = dbus.service.BusName("org.freedesktop.login1", bus)
      MANAGER = "org.freedesktop.login1.Manager"
      locks = 0

      class Manager(dbus.service.Object):
          @dbus.service.method(MANAGER, in_signature="ssss", out_signature="h")
          def Inhibit(self, what, program, why, mode):
              global locks
              if sys.argv[1] == "refuse":
                  raise dbus.DBusException("Permission denied", name="org.freedesktop.DBus.Error.AccessDenied")
              locks += 1
              number = locks
              reading, writing = os.pipe()
              def released(descriptor, condition):
                  print(f"released {number}.")
                  os.close(descriptor)
                  return False
              GLib.unix_fd_add_full(GLib.PRIORITY_HIGH, reading, GLib.IO_HUP, released)
              GLib.timeout_add(50, os.close, writing)
              print(f"lock {number}: {what} {program} {mode}.")
              return dbus.types.UnixFd(writing)

          @dbus.service.signal(MANAGER, signature="b")
          def PrepareForSleep(self, start): pass

      manager = Manager(bus, "/org/freedesktop/login1")
      def announce(start):
          manager.PrepareForSleep(start)
          return True
      GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, announce, True)
      GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR2, announce, False)
      print("ready.")
      GLib.MainLoop().run()
      """
  }
#endif
