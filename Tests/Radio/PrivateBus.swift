#if canImport(CSystemd)
  import Foundation
  import TestSupport

  @testable import Radio

  /// A message bus of its own: Debian's dbus-daemon.
  final class PrivateBus: Sendable {
    let address: String
    let program: RunningProgram

    init(in folder: TemporaryFolder) async throws {
      let socket = folder.file("bus")
      address = "unix:path=\(socket)"
      let configuration = try folder.write(
        """
        <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth><policy context="default">
        <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
        """, to: "bus.conf")
      program = try RunningProgram(
        URL(filePath: "/usr/bin/dbus-daemon"), ["--config-file=\(configuration)", "--nofork"])
      // The socket is there a moment before the daemon listens on it.
      _ = try await eventually("the bus answers") { try? SystemBus(address: address) }
    }
  }
#endif
