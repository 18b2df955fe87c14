import Coverage
import Foundation

/// The directory for all data that outlives the process.
public struct StateDirectory: Hashable, Sendable {
  public let path: String

  /// - Parameter path: Need not exist yet.
  public init(path: String) {
    self.path = path
  }

  /// For a store in memory: a directory that cannot exist.
  static let nowhere = StateDirectory(path: "/dev/null")

  /// The path of the SQLite database.
  public var database: String { path + "/coverage.sqlite" }
  /// The directory of the drive logs.
  public var driveLogs: String { path + "/drives" }
  /// The directory of the copies of rows that no drive log has.
  var copies: String { path + "/copies" }
  var lock: String { path + "/lock" }
  var reserveFile: String { path + "/ballast" }
  /// An empty file: only its inode is reserved.
  var secondReserveFile: String { path + "/ballast-2" }
  /// Exists while a recovery from the drive logs is pending.
  var recoveryMark: String { path + "/recovery-due" }

  /// The present path of a drive log: the directory may have moved since its path was stored, except by a store in memory.
  func driveLog(_ noted: String) -> String {
    self == .nowhere ? noted : driveLogs + "/" + URL(fileURLWithPath: noted).lastPathComponent
  }

  /// The same; `nil` when the file is not there.
  func presentDriveLog(_ noted: String) -> String? {
    let path = driveLog(noted)
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  /// The size of each file in it, in bytes, by path.
  var files: [String: Int64] {
    var files: [String: Int64] = [:]
    for folder in [path, driveLogs, copies] {
      // A folder that cannot be listed has nothing that could be deleted.
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        let file = folder + "/" + name
        guard let status = StateFile.status(file), status.st_mode & S_IFMT == S_IFREG else { continue }
        files[file] = Int64(status.st_size)
      }
    }
    return files
  }

  /// The size of all files in it, in bytes.
  public var bytes: Int64 { files.values.reduce(0) { $0.saturatingAdding($1) } }

  /// Bytes that this user may still write to its disk; `nil` when the file system does not report them.
  public var room: Int64? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Int64(clamping: UInt64(disk.f_bavail).saturatingMultiplied(by: UInt64(disk.f_frsize)))
  }

  /// Creates the directory if it is missing, and checks that this process may write to it.
  /// - Throws: ``StoreError/unusableDirectory(path:reason:)``, ``StoreError/symbolicLink(path:)``
  func prepare() throws {
    try refuseLinks()
    guard Self.makeFolder(path), Self.makeFolder(driveLogs), Self.makeFolder(copies),
      access(path, R_OK | W_OK | X_OK) == 0
    else {
      throw StoreError.unusableDirectory(path, errno)
    }
  }

  /// The directory itself may be a link, but nothing inside it is reached through one.
  /// - Throws: ``StoreError/symbolicLink(path:)``
  public func refuseLinks() throws(StoreError) {
    let files = [lock, reserveFile, secondReserveFile, driveLogs, copies, database, recoveryMark]
    if let link = files.first(where: StateFile.isSymbolicLink) { throw .symbolicLink(path: link) }
  }

  /// A warning when other users of this host may enter it; `nil` when they may not.
  public var warning: String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IXOTH != 0 else { return nil }
    return
      "every user of this host may enter state directory \(path), which contains where it was driven: chmod o= \(path)"
  }

  /// Foundation's function does not report why it failed.
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
    // When this user may not read the parent, the file system syncs it in its own time.
    _ = syncNames(in: parent)
    return true
  }

  /// Makes the names in `folder` safe against a power cut: syncing a file does not sync its name.
  /// - Returns: Whether they are safe; `errno` has the reason if not. File systems without such a sync count as safe.
  static func syncNames(in folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 || errno == EINVAL
  }
}
