#if canImport(CSystemd)
  import Foundation
  import SystemServices

  /// A private message bus: Debian's dbus-daemon.
  public final class PrivateBus: Sendable {
    public let address: String
    public let program: RunningProgram

    public init(in folder: TemporaryFolder) async throws {
      let socket = folder.file("bus")
      address = "unix:path=\(socket)"
      let configuration = try folder.write(
        """
        <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth><policy context="default">
        <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
        """, to: "bus.conf")
      program = try RunningProgram(
        URL(filePath: "/usr/bin/dbus-daemon"), ["--config-file=\(configuration)", "--nofork"])
      // The socket exists a moment before the daemon listens on it.
      _ = try await eventually("the bus answers") { try? SystemBus<Int>(address: address, services: []) }
    }
  }
#endif
