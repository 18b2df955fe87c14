import Foundation

/// Where everything lies that outlives the process.
public struct StateDirectory: Hashable, Sendable {
  public let path: String

  public init(path: String) {
    self.path = path
  }

  public var database: String { path + "/coverage.sqlite" }
  public var driveLogs: String { path + "/drives" }
  var lock: String { path + "/lock" }
  var ballast: String { path + "/ballast" }
  /// Is there while what damage may have taken from the store is still to be made up for from the drive logs.
  var recoveryMark: String { path + "/recovery-due" }

  /// Where a drive log is now: the directory may have moved since its path was noted.
  func driveLog(_ noted: String) -> String { driveLogs + "/" + URL(fileURLWithPath: noted).lastPathComponent }

  /// The bytes of each file in it, by path.
  var files: [String: Int64] {
    var files: [String: Int64] = [:]
    for folder in [path, driveLogs] {
      // One that cannot be listed holds nothing that could be dropped.
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        var status = stat()
        let file = folder + "/" + name
        guard lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
        files[file] = Int64(status.st_size)
      }
    }
    return files
  }

  /// Bytes that this user may still write to the disk that it lies on; `nil` when that cannot be told.
  public var room: Int64? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Int64(clamping: disk.f_bavail).multipliedReportingOverflow(by: Int64(clamping: disk.f_frsize)).partialValue
  }

  /// Makes the directory where it is missing and sees whether this process may write to it.
  /// - Throws: ``StoreError/unusableDirectory(path:reason:)``, ``StoreError/symbolicLink(path:)``
  func prepare() throws {
    // The directory itself may be a link; nothing in it is reached through one.
    for file in [lock, ballast, driveLogs, database, recoveryMark] where StateFile.isSymbolicLink(file) {
      throw StoreError.symbolicLink(path: file)
    }
    guard Self.makeFolder(path), Self.makeFolder(driveLogs), access(path, R_OK | W_OK | X_OK) == 0 else {
      throw StoreError.unusableDirectory(path, errno)
    }
  }

  /// That users of this host may enter it whom nothing in it concerns; `nil` when they may not.
  public var warning: String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IXOTH != 0 else { return nil }
    return
      "every user of this host may enter state directory \(path), which holds where it was driven: chmod o= \(path)"
  }

  /// Foundation's own way does not say why it failed.
  private static func makeFolder(_ path: String) -> Bool {
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    var isMade = mkdir(path, 0o750) == 0
    if !isMade, errno == ENOENT, parent != path, makeFolder(parent) { isMade = mkdir(path, 0o750) == 0 }
    guard isMade else { return errno == EEXIST }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if descriptor >= 0 {
      StateFile.giveToOwner(of: parent, descriptor)
      close(descriptor)
    }
    // Where this user may not read the parent, the file system does it in its own time.
    _ = syncNames(in: parent)
    return true
  }

  /// Makes the names in `folder` safe against a power cut: syncing a file does not do that.
  /// - Returns: Whether they are; `errno` says why not. File systems that have no such sync pass.
  static func syncNames(in folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 || errno == EINVAL
  }
}
