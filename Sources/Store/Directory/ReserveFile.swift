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
  private let directory: StateDirectory

  /// - Parameter directory: The state directory, on the disk where the space is reserved.
  public init(_ directory: StateDirectory) { self.directory = directory }

  /// Reserves 8 MiB if at least as much remains free afterwards.
  /// - Returns: Whether the space is reserved now.
  @discardableResult
  public func reserve() -> Bool {
    if let descriptor = try? StateFile.open(directory.secondReserveFile, O_WRONLY | O_CREAT) { close(descriptor) }
    guard let descriptor = try? StateFile.open(directory.reserveFile, O_WRONLY | O_CREAT) else { return false }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_size == Self.size { return true }
    guard directory.room ?? 0 > 2 * Self.size, posix_fallocate(descriptor, 0, off_t(Self.size)) == 0 else {
      release()
      return false
    }
    return true
  }

  /// Frees the space for the next write.
  /// - Returns: Whether there was any.
  @discardableResult
  public func release() -> Bool {
    let isReleased = unlink(directory.reserveFile) == 0
    return unlink(directory.secondReserveFile) == 0 || isReleased
  }
}
