import Foundation
import TestSupport
import Testing

/// The service's socket, and its status of a full disk.
@Suite(.serialized)
struct ServiceSocketTests {
  private func idle(_ field: Field) async throws -> RunningProgram {
    let service = try field.start("agent")
    _ = try await eventually("the service answers") {
      try await field.run("status").status == 0 ? () : nil
    }
    return service
  }

  private func end(_ service: RunningProgram) async throws {
    service.signal(SIGTERM)
    #expect(try await service.exitStatus(within: .seconds(10)) == 0, "\(service.standardError)")
  }

  @Test("when the socket is removed, then it is made again, and the service takes commands")
  func removed() async throws {
    let field = try await Field(gpsdPort: 1, settings: "agent: { record: command }")
    let service = try await idle(field)
    try FileManager.default.removeItem(atPath: field.socket)
    _ = try await eventually("it answers again") {
      try await field.run("status").status == 0 ? () : nil
    }
    #expect(service.standardError.contains("is gone; creating it again"))
    try await end(service)
    #expect(!FileManager.default.fileExists(atPath: field.socket))
  }

  @Test(
    "when a request has the wrong method, then the answer is 405 and names the right one",
    .enabled(if: Surroundings.program("curl") != nil, "curl is not installed"))
  func wrongMethod() async throws {
    let field = try await Field(gpsdPort: 1, settings: "agent: { record: command }")
    let service = try await idle(field)
    let curl = try #require(Surroundings.program("curl"))
    for (method, path, expected) in [
      ("GET", "start", "405 POST"), ("GET", "submit", "405 POST"), ("POST", "status", "405 GET"),
      ("GET", "nothing", "404 "),
      ("GET", "metrics", "200 "),
    ] {
      let asking = try RunningProgram(
        curl,
        [
          "-s", "-X", method, "--unix-socket", field.socket, "-o", "/dev/null", "-w", "%{http_code} %header{allow}",
          "http://localhost/" + path,
        ])
      #expect(try await asking.exitStatus() == 0)
      #expect(asking.standardOutput == expected, "\(method) \(path)")
    }
    try await end(service)
  }

  @Test("when the service gets SIGQUIT, then it prints its status")
  func quit() async throws {
    let field = try await Field(gpsdPort: 1, settings: "agent: { record: command }")
    let service = try await idle(field)
    service.signal(SIGQUIT)
    _ = try await eventually("the status") {
      let isWhole = ["idle: waiting for a command\n", "waiting to be sent: 0 fences in 0 sessions"]
        .allSatisfy(service.standardError.contains)
      return isWhole ? () : nil
    }
    try await end(service)
  }

  @Test(
    "when the disk is full, then status, its JSON and its metrics say so",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func fullDisk() async throws {
    let folder = try TemporaryFolder()
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    try #require(mount("tmpfs", disk, "tmpfs", 0, "size=20m") == 0)
    defer { umount2(disk, CInt(MNT_DETACH)) }
    let field = try await Field(
      gpsdPort: 1, settings: "agent: { record: command }", stateDirectory: disk + "/state")
    let service = try await idle(field)
    let before = try await field.run("status")
    #expect(!before.output.contains("disk"))
    try fill(disk + "/filler")
    let lines = try await field.run("status").output
    #expect(
      lines.contains(
        "\ndisk: the disk of the state directory is full: delete other files until 1 MiB is free; 0 KiB free\n"),
      "\(lines)")
    let json = try await field.run("status", ["--json"]).output
    #expect(json.contains("\"disk\":{\"free_bytes\":0,\"full\":true,\"unsaved_fences\":0}"), "\(json)")
    let metrics = try await field.run("status", ["--metrics"]).output
    #expect(metrics.contains("\ncoverage_probe_disk_full 1\n"), "\(metrics)")
    #expect(metrics.contains("\ncoverage_probe_disk_free_bytes 0\n"), "\(metrics)")
    try await end(service)
  }
}
