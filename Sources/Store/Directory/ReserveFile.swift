import Coverage
import Foundation

/// Space on the disk reserved for fences: files that are deleted when the disk is full, so that fences fit.
///
/// There are two, because SQLite removes its log and the log's index at an orderly end: on a disk without inodes, the next start needs one
/// for each of them.
public struct ReserveFile: Sendable {
  /// 8 MiB, enough for the fences of some hours.
  public static let size = 8 << 20
  /// With this much free space the reserve file can be reserved and recording continues for a while; in bytes.
  static let room = Int64(3 * size)
  private let path: String
  private let second: String

  /// - Parameter directory: The state directory, on the disk where the space is reserved.
  public init(_ directory: StateDirectory) {
    (path, second) = (directory.reserveFile, directory.secondReserveFile)
  }

  /// Reserves 8 MiB if at least as much remains free afterwards.
  /// - Returns: Whether the space is reserved now.
  @discardableResult
  public func reserve() -> Bool {
    if let descriptor = try? StateFile.open(second, O_WRONLY | O_CREAT) { close(descriptor) }
    guard let descriptor = try? StateFile.open(path, O_WRONLY | O_CREAT) else { return false }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_size == Self.size { return true }
    guard hasRoom(descriptor), posix_fallocate(descriptor, 0, off_t(Self.size)) == 0 else {
      release()
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
  @discardableResult
  public func release() -> Bool {
    let isReleased = unlink(path) == 0
    return unlink(second) == 0 || isReleased
  }
}
