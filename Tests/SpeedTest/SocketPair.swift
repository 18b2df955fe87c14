import CLibssl
import Foundation

/// Two connected ends; ours does not block.
final class SocketPair {
  let ours: Int32
  private let theirs: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE)
    }
    (ours, theirs) = (ends[0], ends[1])
    _ = fcntl(ours, F_SETFL, O_NONBLOCK)
  }

  /// Sends from their end.
  func send(_ bytes: [UInt8]) { _ = Glibc.send(theirs, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  /// Ends the stream from their end.
  func end() { shutdown(theirs, Int32(SHUT_RDWR)) }

  deinit {
    close(theirs)
    close(ours)
  }
}
