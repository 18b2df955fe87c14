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

  /// The process that writes to it, in its own words; `nil` when none does.
  public var holder: String? { WriterLock.isHeld(self) ? WriterLock.holder(self) : nil }

  /// Makes the directory where it is missing and sees whether this process may write to it.
  /// - Throws: ``StoreError/unusableDirectory(path:reason:)``
  func prepare() throws {
    guard Self.makeFolder(path), Self.makeFolder(driveLogs), access(path, R_OK | W_OK | X_OK) == 0 else {
      throw StoreError.unusableDirectory(path: path, reason: String(cString: strerror(errno)))
    }
  }

  /// Foundation's own way does not say why it failed.
  private static func makeFolder(_ path: String) -> Bool {
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    var isMade = mkdir(path, 0o750) == 0
    if !isMade, errno == ENOENT, parent != path, makeFolder(parent) { isMade = mkdir(path, 0o750) == 0 }
    // Where this user may not read the parent, the file system does it in its own time.
    if isMade { _ = syncNames(in: parent) }
    return isMade || errno == EEXIST
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

/// The right to write to a state directory. It ends with this value, or with the process, however it ends.
final class WriterLock: Sendable {
  private let descriptor: CInt

  /// - Parameter purpose: What the holder is, for whoever finds the directory in use.
  /// - Throws: ``StoreError/inUse(directory:holder:)``, ``StoreError/unusableDirectory(path:reason:)``
  init(_ directory: StateDirectory, purpose: String) throws {
    descriptor = open(directory.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    guard descriptor >= 0 else {
      throw StoreError.unusableDirectory(path: directory.path, reason: String(cString: strerror(errno)))
    }
    guard Self.take(descriptor) else {
      let holder = Self.holder(directory)
      close(descriptor)
      throw StoreError.inUse(directory: directory.path, holder: holder)
    }
    let note = "process \(getpid()) (\(purpose))"
    ftruncate(descriptor, 0)
    _ = note.withCString { pwrite(descriptor, $0, strlen($0), 0) }
  }

  /// Tries for a second: a reader that looks whether the lock is held has it itself for a moment, and so has a child of this
  /// process between fork and exec.
  private static func take(_ descriptor: CInt) -> Bool {
    for _ in 0..<50 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      usleep(20_000)
    }
    return false
  }

  deinit {
    ftruncate(descriptor, 0)
    close(descriptor)
  }

  /// Whether some process holds the right to write to `directory`.
  static func isHeld(_ directory: StateDirectory) -> Bool {
    let descriptor = open(directory.lock, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  static func holder(_ directory: StateDirectory) -> String {
    guard let note = FileManager.default.contents(atPath: directory.lock), !note.isEmpty else {
      return "another process"
    }
    return String(decoding: note.prefix(200), as: UTF8.self)
  }
}
