#if canImport(CSystemd)
  import Foundation
  import TestSupport
  import Testing

  /// A program on a bus that sends signals, by match rules or to the address of each connection.
  struct Speaker {
    let program: RunningProgram
    private let orders: String
    private let folder: TemporaryFolder

    /// - Parameter name: The well-known name that the program owns.
    init(at address: String, name: String) async throws {
      folder = try TemporaryFolder()
      orders = try folder.write("", to: "orders")
      program = try RunningProgram(
        URL(filePath: "/usr/bin/python3"), ["-u", "-c", Self.script, name, orders],
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
      _ = try await program.line(after: "ready")
    }

    /// Sends the signal `Said` of `org.example.Things` with a text.
    /// - Parameter toEach: Whether the signal is sent to the address of each connection, without match rules.
    func say(_ text: String, toEach: Bool = false) async throws {
      let file = try #require(FileHandle(forWritingAtPath: orders))
      try file.seekToEnd()
      try file.write(contentsOf: Data("\(toEach ? "each" : "all")\t\(text)\n".utf8))
      _ = try await program.line(after: "said \(text)")
    }

    /// Sends the signal with a value of each type of D-Bus, for numbers the smallest or the largest.
    func sayEveryType() async throws { try await say("every type") }

    private static let script = """
      import sys, time, dbus, dbus.lowlevel
      bus = dbus.SystemBus()
      bus.request_name(sys.argv[1], dbus.bus.NAME_FLAG_DO_NOT_QUEUE)
      print("ready")
      orders = open(sys.argv[2])
      while True:
          line = orders.readline()
          if not line.endswith("\\n"):
              time.sleep(0.01)
              continue
          to, text = line.rstrip("\\n").split("\\t")
          others = [name for name in bus.list_names() if name.startswith(":") and name != bus.get_unique_name()]
          for destination in others if to == "each" else [None]:
              signal = dbus.lowlevel.SignalMessage("/org/example", "org.example.Things", "Said")
              if text == "every type":
                  signal.append(
                      255, -2**15, 2**16 - 1, -2**31, 2**32 - 1, -2**63, 2**64 - 1, 1.5, True, "/a", "s", ("b", 2),
                      {"k": dbus.UInt16(3)}, {4: "c"}, ["d"], dbus.Byte(5), signature="ynqiuxtdbog(si)a{sv}a{is}asv")
              else:
                  signal.append(text)
              if destination:
                  signal.set_destination(destination)
              bus.send_message(signal)
          bus.flush()
          print("said " + text)
      """
  }
#endif
