import Foundation
import TestSupport
import Testing

@testable import Service

/// The datagrams that the service manager gets (sd_notify(3)), over real sockets.
struct NotifySocketTests {
  @Test("when the socket is a path, then each call is one datagram with a line for each assignment")
  func path() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("notify")
    let manager = try ManagerSocket(name: Array(path.utf8))
    let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": path]))
    #expect(socket.send(["READY=1", "STATUS=idle: paused"]) == nil)
    #expect(socket.send(["WATCHDOG=1"]) == nil)
    #expect(manager.next() == "READY=1\nSTATUS=idle: paused")
    #expect(manager.next() == "WATCHDOG=1")
    #expect(manager.next() == nil)
  }

  @Test("when the name is abstract, then the datagram arrives")
  func abstractName() throws {
    let name = "coverage-probe-notify-\(UInt64.random(in: 0...UInt64.max))"
    let manager = try ManagerSocket(name: [0] + name.utf8)
    let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": "@" + name]))
    #expect(socket.send(["STOPPING=1"]) == nil)
    #expect(manager.next() == "STOPPING=1")
  }

  @Test("when no manager listens, then the call returns the reason")
  func noManager() throws {
    let folder = try TemporaryFolder()
    let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": folder.file("notify")]))
    #expect(socket.send(["READY=1"]) == ENOENT)
  }

  @Test("when the manager reads nothing, then the call returns at once with the reason, and its queue stays in order")
  func fullQueue() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("notify")
    let manager = try ManagerSocket(name: Array(path.utf8))
    let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": path]))
    var sent = 0
    var code: CInt?
    while code == nil, sent < 100_000 {
      code = socket.send(["STATUS=\(sent)"])
      if code == nil { sent += 1 }
    }
    #expect(code == EAGAIN)
    for number in 0..<sent { #expect(manager.next() == "STATUS=\(number)") }
  }

  @Test(
    "when NOTIFY_SOCKET names no usable unix socket, then there is no notify socket",
    arguments: [
      nil, "", "/", "@", "notify", "vsock:2:1234", "/" + String(repeating: "x", count: 107),
    ])
  func absent(value: String?) {
    #expect(NotifySocket(environment: value.map { ["NOTIFY_SOCKET": $0] } ?? [:]) == nil)
  }
}
