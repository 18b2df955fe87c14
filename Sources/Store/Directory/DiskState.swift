import Foundation

/// Explains a failure by the state of the disk: read-only, full, or without inodes.
enum DiskState {
  /// Whether the file system of `path` is mounted read-only.
  static func isReadOnly(_ path: String) -> Bool {
    var disk = statvfs()
    return statvfs(path, &disk) == 0 && disk.f_flag & UInt(ST_RDONLY) != 0
  }

  /// - Returns: `nil` when the file system reports no trouble.
  static func trouble(at path: String) -> (reason: String, remedy: String)? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    if disk.f_flag & UInt(ST_RDONLY) != 0 { return ("its disk is mounted read-only", "mount it for writing") }
    // Some file systems have no fixed number of inodes; they report zero of zero.
    if disk.f_files > 0, disk.f_favail == 0 { return ("its disk has no inodes left", "delete some files on it") }
    if disk.f_blocks > 0, disk.f_bavail == 0 { return ("its disk is full", "free some space") }
    return nil
  }
}

/// The size from which on a store is not read completely at a start or for a listing: on a device with a slow card, a drive
/// would begin seconds later.
enum LargeStore {
  /// The size of the file, in bytes: some 70,000 fences.
  static let bytes: Int64 = 16 << 20
}
