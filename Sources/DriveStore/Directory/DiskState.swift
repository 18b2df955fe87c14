import Foundation

/// What is wrong with the disk that a path lies on, in words, where that explains a failure.
enum DiskState {
  /// - Returns: `nil` when nothing is wrong that the file system tells.
  static func trouble(at path: String) -> (reason: String, remedy: String)? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    if disk.f_flag & UInt(ST_RDONLY) != 0 { return ("its disk is mounted read-only", "mount it for writing") }
    // Some file systems have no fixed number of inodes, and tell zero of zero.
    if disk.f_files > 0, disk.f_favail == 0 { return ("its disk has no inodes left", "delete some files on it") }
    if disk.f_blocks > 0, disk.f_bavail == 0 { return ("its disk is full", "free some space") }
    return nil
  }
}
