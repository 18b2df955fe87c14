import Foundation
import Glibc
import NIOCore
import NIOPosix

/// Why the socket for commands cannot be created.
struct ServiceSocketError: Error, CustomStringConvertible {
  let path: String
  let cause: any Error

  var description: String { "cannot take commands at \(path): \(reason); \(remedy)" }

  /// Whether the path is right and the host lacks something at present.
  var isTransient: Bool {
    code.map([ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE, ENOMEM, ENOBUFS].contains) ?? false
  }

  /// The value of errno(3); `nil` for errors of SwiftNIO itself.
  private var code: CInt? { (cause as? IOError)?.errnoCode }

  private var reason: String {
    switch cause {
    case SocketAddressError.unixDomainSocketPathTooLong:
      "the path is longer than the 107 bytes that a socket's may have"
    case is UnixDomainSocketPathWrongType: "there is something that is no socket"
    default: code.map { String(cString: strerror($0)) } ?? "\(cause)"
    }
  }

  private var remedy: String {
    switch code {
    case ENOSPC, EDQUOT: "delete some files on its disk"
    case EROFS, EIO: "see the kernel's messages about its disk"
    case EMFILE, ENFILE, ENOMEM, ENOBUFS: "end other programs"
    default: "set agent.socket to another path"
    }
  }
}

/// The group whose members may ask the service for its state: `agent.socket-group`. As an error, the reason why they may not.
struct SocketGroup: Error, CustomStringConvertible {
  let name: String
  private var reason = ""

  init(name: String) { self.name = name }

  /// Gives the socket to the group. If that fails, only its user may use the socket.
  /// - Throws: A copy of this group with the reason.
  func admit(to path: String) throws(SocketGroup) {
    guard let group = Self.id(of: name) else { throw refused(path, "there is no such group") }
    // Without chown(2) where nothing changes: the unit's system call filter refuses it.
    var status = stat()
    let isTheirs = lstat(path, &status) == 0 && status.st_gid == group
    guard isTheirs || chown(path, uid_t.max, group) == 0 else {
      // EPERM: only root and members of a group may give it a file.
      throw refused(path, String(cString: strerror(errno)))
    }
    guard chmod(path, 0o660) == 0 else { throw refused(path, String(cString: strerror(errno))) }
  }

  var description: String {
    "agent.socket-group: \(name) cannot have the socket: \(reason); only root and the service's own user may use it"
  }

  /// Takes the access of any group away, so that a failure never leaves the socket open to the wrong one.
  private func refused(_ path: String, _ reason: String) -> SocketGroup {
    chmod(path, 0o600)
    var refused = self
    refused.reason = reason
    return refused
  }

  /// From the system's group database; `nil` for an unknown name.
  private static func id(of name: String) -> gid_t? {
    var entry = group()
    var found: UnsafeMutablePointer<group>?
    var buffer = [CChar](repeating: 0, count: 1 << 16)
    guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.gr_gid
  }
}
