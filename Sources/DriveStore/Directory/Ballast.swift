import Coverage
import Foundation

/// Space on the disk reserved for fences: a file that is deleted when the disk is full, so that fences fit.
public struct Ballast: Sendable {
  /// 8 MiB, enough for the fences of some hours.
  public static let size = 8 << 20
  /// With this much free space the ballast can be reserved and recording continues for a while; in bytes.
  static let room = Int64(3 * size)
  private let path: String

  /// - Parameter directory: The state directory, on the disk where the space is reserved.
  public init(_ directory: StateDirectory) {
    path = directory.ballast
  }

  /// Reserves 8 MiB if at least as much remains free afterwards.
  /// - Returns: Whether the space is reserved now.
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

  /// Frees the space for the next write.
  /// - Returns: Whether there was any.
  public func release() -> Bool { unlink(path) == 0 }
}
