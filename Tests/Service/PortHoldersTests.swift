import Foundation
import TestSupport
import Testing

@testable import Service

/// Which processes have a port open, with real pseudo-terminals and the kernel's own list.
struct PortHoldersTests {
  /// A terminal that another program has created and keeps open, as a receiver's port.
  private struct Port {
    let path: String
    let program: RunningProgram

    init() async throws {
      program = try RunningProgram(
        URL(filePath: "/usr/bin/python3"),
        ["-u", "-c", "import os, pty, time; port = pty.openpty()[1]; print('port', os.ttyname(port)); time.sleep(60)"])
      path = try await program.line(after: "port ")
    }
  }

  @Test("when a process has a port open, then it is named with its number, until it ends")
  func one() async throws {
    let port = try await Port()
    let found = PortHolders(of: [port.path])
    #expect(found.holders == [.init(port: port.path, process: port.program.pid, program: "python3")])
    #expect(found.lines.first == "\(port.path) is open in python3 (\(port.program.pid))")
    #expect(
      found.json.text.hasPrefix(
        #"{"holders":[{"port":"\#(port.path)","process":\#(port.program.pid),"program":"python3"}],"hidden_processes":"#
      ))
    try await port.program.stop()
    // Another program can have the terminal's number now.
    #expect(!PortHolders(of: [port.path]).holders.contains { $0.process == port.program.pid })
  }

  @Test("when two programs have a port open, then the line names both, also for a link to the port")
  func two() async throws {
    let (folder, port) = (try TemporaryFolder(), try await Port())
    let link = folder.file("gps0")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: port.path)
    let other = try RunningProgram(URL(filePath: "/bin/sh"), ["-c", "exec 3<>\(port.path); echo open; exec sleep 60"])
    _ = try await other.line(after: "open")
    let found = PortHolders(of: [link])
    #expect(Set(found.holders.map(\.process)) == [port.program.pid, other.pid])
    #expect(found.lines.first?.contains("(\(other.pid))") == true, "\(found.lines)")
    #expect(found.lines.first?.hasPrefix(link) == true)
    try await other.stop()
    #expect(!PortHolders(of: [link]).holders.contains { $0.process == other.pid })
  }

  @Test(
    "when a path is no device, or is missing, then it has no holders",
    arguments: ["/etc/passwd", "/nothing", "", "/dev"])
  func noDevice(path: String) {
    #expect(PortHolders(of: [path]).lines.isEmpty)
  }

  @Test("when open files of other users cannot be seen, then a line says so, and names root")
  func hidden() async throws {
    let (folder, port) = (try TemporaryFolder(), try await Port())
    // Processes that exist, but whose files cannot be read.
    for process in ["1", "2", "not-a-process"] {
      try FileManager.default.createDirectory(atPath: folder.file(process), withIntermediateDirectories: true)
    }
    let found = PortHolders(of: [port.path], processes: folder.path)
    #expect(found.hidden == 2 && found.holders.isEmpty)
    #expect(found.lines == ["2 processes of other users cannot be seen: ask as root"])
  }

  @Test("when gpsd names a port, then the ports of the host contain it once")
  func ports() {
    let ports = PortHolders.ports(with: ["/dev/receiver", "/dev/receiver"])
    #expect(ports.filter { $0 == "/dev/receiver" }.count == 1)
    #expect(ports == ports.sorted())
  }
}
