import Foundation

/// How files of a state directory are opened and made: a drive is a person's way through the world.
enum StateFile {
  /// Opens `path`, or makes it. A file that is made is its owner's alone, whatever the umask says, and belongs to the owner of its
  /// folder when root makes it.
  /// - Parameter flags: Beside `O_CLOEXEC`. With `O_CREAT`, the file is made where it is missing.
  /// - Returns: The descriptor.
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

  /// Takes the rights of others away, and gives what root has made to the owner of the folder. Where this user may not do that, the file
  /// stays as it is.
  private static func secure(_ descriptor: CInt, _ path: String) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    if status.st_mode & 0o777 != 0o600 { fchmod(descriptor, 0o600) }
    giveToOwner(of: URL(fileURLWithPath: path).deletingLastPathComponent().path, descriptor)
  }

  /// As root: else nothing changes.
  static func giveToOwner(of folder: String, _ descriptor: CInt) {
    var owner = stat()
    guard geteuid() == 0, stat(folder, &owner) == 0 else { return }
    fchown(descriptor, owner.st_uid, owner.st_gid)
  }

  /// Makes `path` a file of its owner's alone before SQLite opens it; SQLite gives its companions the same rights.
  /// - Throws: ``StoreError``
  static func prepareDatabase(_ path: String) throws {
    for companion in [path + "-wal", path + "-shm"] where isSymbolicLink(companion) {
      throw StoreError.symbolicLink(path: companion)
    }
    do {
      close(try open(path, O_RDWR | O_CREAT))
    } catch StoreError.unusableDirectory {
      // SQLite finds the same, and says it in the words for a store.
    }
    for companion in [path + "-wal", path + "-shm"] {
      var status = stat()
      guard lstat(companion, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else {
        continue
      }
      chmod(companion, 0o600)
    }
  }

  static func isSymbolicLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}
