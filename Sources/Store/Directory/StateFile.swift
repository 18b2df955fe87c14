import Foundation

/// How files of a state directory are opened and created. They show where a person drove, so only their owner may
/// read them.
public enum StateFile {
  /// Opens or creates `path`. A created file has mode 0600 regardless of the umask; if root creates it, it belongs to
  /// the owner of its folder.
  /// - Parameters:
  ///   - path: The path; must not be a symbolic link.
  ///   - flags: In addition to `O_CLOEXEC`. With `O_CREAT`, a missing file is created.
  /// - Throws: ``StoreError/symbolicLink(path:)``, ``StoreError/unusableDirectory(path:reason:)``
  static func open(_ path: String, _ flags: CInt) throws -> CInt {
    let descriptor = Foundation.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      let error = errno
      if error == ELOOP { throw StoreError.symbolicLink(path: path) }
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      throw StoreError.unusableDirectory(folder, error)
    }
    if flags & O_CREAT != 0 { secure(descriptor, path) }
    return descriptor
  }

  /// Removes the access of other users, and gives a file created by root to the owner of its folder. Without the
  /// permission to do so, the file stays unchanged.
  private static func secure(_ descriptor: CInt, _ path: String) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    if status.st_mode & 0o777 != 0o600 { fchmod(descriptor, 0o600) }
    giveToOwner(of: URL(fileURLWithPath: path).deletingLastPathComponent().path, descriptor)
  }

  /// Gives a file that root created to the owner of `folder`: else the service's user could not read it. Only root changes
  /// owners; for all others it does nothing.
  public static func giveToOwner(of folder: String, _ descriptor: CInt) {
    var owner = stat()
    guard geteuid() == 0, stat(folder, &owner) == 0 else { return }
    fchown(descriptor, owner.st_uid, owner.st_gid)
  }

  /// Makes `path` a file with mode 0600 before SQLite opens it; SQLite copies the mode to its companions.
  /// - Throws: ``StoreError``
  static func prepareDatabase(_ path: String) throws {
    for companion in [path + "-wal", path + "-shm"] where isSymbolicLink(companion) {
      throw StoreError.symbolicLink(path: companion)
    }
    do {
      close(try open(path, O_RDWR | O_CREAT))
    } catch StoreError.unusableDirectory {
      // SQLite reports the same error, in words about a store.
    }
    for companion in [path + "-wal", path + "-shm"] {
      guard let status = status(companion), status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else {
        continue
      }
      chmod(companion, 0o600)
    }
  }

  static func isSymbolicLink(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT == S_IFLNK } ?? false }

  /// Of a link itself; `nil` when it cannot be read.
  static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }
}
