import Coverage
import Foundation

/// Room on the disk that is kept for the moment when there is no other: a file that is given up so that fences fit.
public struct Ballast: Sendable {
  /// In bytes: fences of some hours.
  public static let size = 8 << 20
  /// Bytes that a disk has free when the ballast can be set aside and all goes on for a while.
  static let room = Int64(3 * size)
  private let path: String

  public init(_ directory: StateDirectory) {
    path = directory.ballast
  }

  /// Sets the room aside, unless the disk has little more than that.
  /// - Returns: Whether it is set aside now.
  @discardableResult
  public func keep() -> Bool {
    guard let descriptor = try? StateFile.open(path, O_WRONLY | O_CREAT) else { return false }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_size == Self.size { return true }
    guard hasRoom(descriptor), posix_fallocate(descriptor, 0, off_t(Self.size)) == 0 else {
      unlink(path)
      return false
    }
    return true
  }

  private func hasRoom(_ descriptor: CInt) -> Bool {
    var disk = statvfs()
    guard fstatvfs(descriptor, &disk) == 0 else { return false }
    return UInt64(disk.f_bavail).saturatingMultiplied(by: UInt64(disk.f_frsize)) > UInt64(2 * Self.size)
  }

  /// Gives the room to whoever writes next.
  /// - Returns: Whether there was any.
  public func release() -> Bool { unlink(path) == 0 }
}
