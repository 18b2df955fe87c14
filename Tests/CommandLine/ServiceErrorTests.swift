import Foundation
import NIOCore
import TestSupport
import Testing

@testable import Service
@testable import Submission
@testable import coverage_probe

/// Why commands cannot reach the service, and which causes are transient.
struct ServiceErrorTests {
  private func socketError(_ code: CInt) -> ServiceSocketError {
    ServiceSocketError(path: "/run/x", cause: IOError(errnoCode: code, reason: "bind"))
  }

  @Test(
    "when the host lacks a resource for a while, then the line names a remedy, and the service retries",
    arguments: [
      (ENOSPC, "No space left on device; delete some files on its disk"),
      (EDQUOT, "Disk quota exceeded; delete some files on its disk"),
      (EROFS, "Read-only file system; see the kernel's messages about its disk"),
      (EIO, "Input/output error; see the kernel's messages about its disk"),
      (EMFILE, "Too many open files; end other programs"),
      (ENFILE, "Too many open files in system; end other programs"),
      (ENOMEM, "Cannot allocate memory; end other programs"),
      (ENOBUFS, "No buffer space available; end other programs"),
    ])
  func transient(code: CInt, reason: String) {
    #expect(socketError(code).description == "cannot take commands at /run/x: \(reason)")
    #expect(socketError(code).isTransient)
  }

  @Test("when the path is wrong, then the remedy is another path, and the service does not retry")
  func lasting() {
    for code in [EACCES, ENOENT, ENOTDIR, EADDRINUSE] {
      #expect(socketError(code).description.hasSuffix("; set agent.socket to another path"))
      #expect(!socketError(code).isTransient)
    }
    let long = ServiceSocketError(path: "/x", cause: SocketAddressError.unixDomainSocketPathTooLong)
    #expect(
      long.description
        == "cannot take commands at /x: the path is longer than the 107 bytes that a socket's may have; "
        + "set agent.socket to another path")
    #expect(!long.isTransient)
  }

  @Test("when a service does not answer in time, then the line warns that the command may still run")
  func silent() {
    let error = ServiceUnreachable(path: "/run/x", reason: .silent, directory: "/d", holder: nil)
    #expect(
      error.description
        == "the service at /run/x has not answered in time; it may still run the command: see its log")
  }

  // MARK: The socket

  @Test("when a program listens, then there is no obstacle to a request, even with a full connection queue")
  func queueFull() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("socket")
    let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var connections: [CInt] = []
    defer { ([listener] + connections).forEach { close($0) } }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    func call(_ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ descriptor: CInt) -> CInt {
      withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
    try #require(call(bind, listener) == 0 && listen(listener, 0) == 0)
    #expect(SocketProbe.obstacle(to: path) == nil)
    // Fill the queue; the listener accepts nothing.
    var isFull = false
    for _ in 0..<16 where !isFull {
      let client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
      connections.append(client)
      isFull = call(connect, client) != 0 && errno == EAGAIN
    }
    try #require(isFull)
    #expect(SocketProbe.obstacle(to: path) == nil)
  }

  @Test(
    "when a pass mode is named, then only the exact name is accepted",
    arguments: [
      ("cold", PassMode.cold), ("warm", .warm), ("quarantined", .quarantined), ("drive", nil), ("", nil), ("Cold", nil),
      ("cold ", nil),
    ] as [(String, PassMode?)])
  func modes(name: String, mode: PassMode?) {
    #expect(PassMode(command: name) == mode)
  }

  // MARK: Lines of other commands

  @Test("when work ends, then its result is returned; when a stop comes first, then the work is cancelled")
  func untilStop() async throws {
    let (never, keep) = AsyncStream<Void>.makeStream()
    #expect(try await untilStopped(by: never) { 7 } == 7)
    keep.finish()
    let (stop, stopping) = AsyncStream<Void>.makeStream()
    stopping.yield()
    await #expect(throws: CancellationError.self) {
      try await untilStopped(by: stop) { try await Task.sleep(for: .seconds(60)) }
    }
  }
}
