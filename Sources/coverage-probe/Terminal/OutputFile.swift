import Foundation
import Glibc
import Service

/// The destination of a command's result.
///
/// A regular file is replaced by a new one with the same mode and owner after all of the new file is on the disk. Until then the new file
/// has no name where the file system allows that, so that a failure, a signal or a power cut leaves nothing behind. Symbolic links are
/// followed. Devices, pipes and sockets are written directly. So is a file that cannot be replaced: one with several names, of another
/// owner, or in a directory without write permission; ``warning`` then says so.
final class OutputFile {
  private enum Target {
    /// Standard output or another inherited descriptor: neither synced nor closed.
    case inherited
    /// A device, a pipe, or a regular file that cannot be replaced for `reason`.
    case existing(reason: String?)
    case replacement(NewFile)
  }

  /// The name that the operator gave.
  private let name: String
  private let descriptor: CInt
  private let target: Target
  private var buffer: [UInt8] = []
  /// Whether the result is complete; if not, the end of this object removes the new file.
  private var isFinished = false

  /// The buffer is written when it has this many bytes.
  private static let bufferSize = 1 << 16

  private init(name: String, _ descriptor: CInt, _ target: Target) {
    (self.name, self.descriptor, self.target) = (name, descriptor, target)
  }

  /// Opens the destination; creates no name yet, unless a link leads to a file that is not there.
  convenience init(path: String?) throws(OutputError) {
    guard let path, path != "-" else {
      self.init(name: "standard output", STDOUT_FILENO, .inherited)
      return
    }
    if let inherited = Self.inheritedDescriptor(path) {
      self.init(name: path, inherited, .inherited)
      return
    }
    var status = stat()
    let isLink = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    // Fails for directories, and for files that this user may not write to, even if the user could replace them.
    let existing = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (isLink ? O_CREAT : 0), 0o666)
    guard existing >= 0 else {
      let code = errno
      guard code == ENOENT, !isLink, !path.isEmpty, !path.hasSuffix("/") else {
        let isFolder = code == ENOENT && path.hasSuffix("/")
        throw OutputError(path: path.isEmpty ? "\"\"" : path, code: isFolder ? EISDIR : code)
      }
      guard let new = NewFile(path, mode: 0o666) else { throw OutputError(path: path, code: errno) }
      self.init(name: path, new.descriptor, .replacement(new))
      return
    }
    guard fstat(existing, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      self.init(name: path, existing, .existing(reason: nil))
      return
    }
    let reason: String
    var code: CInt = 0
    if status.st_nlink != 1 {
      reason = "it has several names"
    } else if let new = NewFile(Self.realPath(path), mode: 0o600) {
      if new.takeOver(status) {
        close(existing)
        self.init(name: path, new.descriptor, .replacement(new))
        return
      }
      new.discard()
      reason = "a new file would have another owner"
    } else {
      code = errno
      reason = "no file can be made beside it (\(String(cString: strerror(code))))"
    }
    // A full or failing disk may not hold a file written in place either.
    let isUseless = [ENOSPC, EDQUOT, EIO].contains(code)
    if isUseless || ftruncate(existing, 0) != 0 {
      if !isUseless { code = errno }
      close(existing)
      throw OutputError(path: path, code: code)
    }
    self.init(name: path, existing, .existing(reason: reason))
  }

  deinit {
    if isFinished { return }
    switch target {
    case .inherited: break
    case .existing: close(descriptor)
    case .replacement(let new): new.discard()
    }
  }

  /// What the name of an output says about its content: the ending in lower case, `gpkg` for `drives.GPKG`. `nil` for standard
  /// output, for devices and pipes, and for a name without an ending.
  static func ending(of path: String?) -> String? {
    guard let path, path != "-" else { return nil }
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return nil }
    let ending = URL(fileURLWithPath: path).pathExtension.lowercased()
    return ending.isEmpty ? nil : ending
  }

  /// Whether a result at `path` goes to the terminal, where a line of progress would be between its lines.
  static func isTerminal(_ path: String?) -> Bool { (path == nil || path == "-") && isatty(STDOUT_FILENO) == 1 }

  /// Whether the result is a regular file with a name.
  var isRegular: Bool {
    switch target {
    case .inherited, .existing(reason: nil): false
    case .existing, .replacement: true
    }
  }

  /// Why the file is written in place, in one line; a failure would leave it incomplete. `nil` when it will be
  /// replaced.
  var warning: String? {
    guard case .existing(let reason?) = target else { return nil }
    return "\(name) is written in place, as \(reason): a failure before the end leaves it incomplete"
  }

  func write(_ bytes: [UInt8]) throws(OutputError) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Completes the output; must be called once, after the last write. On return the result has its name, and its bytes are on the
  /// disk. The name itself is not synced: a power cut in the next seconds can bring the old file back.
  /// - Throws: ``OutputError``; the old file is then unchanged, unless it was written in place.
  func finish() throws(OutputError) {
    try flush()
    if case .inherited = target { return }
    // Pipes and devices cannot be synced.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw error() }
    if case .replacement(let new) = target, !new.takePlace() { throw error() }
    isFinished = true
    guard close(descriptor) == 0 else { throw error() }
  }

  /// Writes the buffer to the descriptor, and keeps its memory for the next bytes.
  private func flush() throws(OutputError) {
    guard DescriptorOutput.write(buffer, to: descriptor) else { throw error() }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Call it at once after the failure: other calls change `errno`.
  private func error() -> OutputError { OutputError(path: name, code: errno) }

  /// `path` without links; as it is, if that cannot be told.
  private static func realPath(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  /// The descriptor of `/dev/stdout` and similar paths. Opening such a path would write at the start of a file that
  /// the shell appends to.
  private static func inheritedDescriptor(_ path: String) -> CInt? {
    if path == "/dev/stdout" { return STDOUT_FILENO }
    if path == "/dev/stderr" { return STDERR_FILENO }
    let folder = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
    return folder.flatMap { CInt(path.dropFirst($0.count)) }.flatMap { fcntl($0, F_GETFD) >= 0 ? $0 : nil }
  }
}

/// A file that gets its path when it is complete. Until then it has no name, or a temporary one on a file system without unnamed files.
private struct NewFile {
  let descriptor: CInt
  private let path: String
  /// Beside the path, because rename(2) works within one file system only.
  private let temporary: String
  private let isUnnamed: Bool

  /// `nil` when no file can be made there; `errno` has the reason.
  init?(_ path: String, mode: mode_t) {
    (self.path, temporary) = (path, "\(path).\(getpid()).partial")
    // Left by a killed process of the same number.
    unlink(temporary)
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    // `__O_TMPFILE`, which Swift's Glibc module lacks; the value is the same on all architectures that Swift supports
    // on Debian.
    let withoutName = 0o20_000_000 | O_DIRECTORY
    let unnamed = open(folder, withoutName | O_WRONLY | O_CLOEXEC, mode)
    isUnnamed = unnamed >= 0 || ![EOPNOTSUPP, EISDIR, EINVAL].contains(errno)
    descriptor = isUnnamed ? unnamed : open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    if descriptor < 0 { return nil }
  }

  /// Gives the file the owner and the mode of the one that it replaces.
  func takeOver(_ status: stat) -> Bool {
    var own = stat()
    guard fstat(descriptor, &own) == 0 else { return false }
    // Only where they differ: chown(2) needs a privilege for most changes.
    if own.st_uid != status.st_uid || own.st_gid != status.st_gid,
      fchown(descriptor, status.st_uid, status.st_gid) != 0
    {
      return false
    }
    return fchmod(descriptor, status.st_mode & 0o7777) == 0
  }

  /// Gives the complete file its path; if that fails, `errno` has the reason. linkat(2) never replaces a file, so an unnamed file gets
  /// the temporary name first.
  func takePlace() -> Bool {
    (!isUnnamed || linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0)
      && rename(temporary, path) == 0
  }

  func discard() {
    close(descriptor)
    unlink(temporary)
  }
}

/// Why the result of a command could not be written.
struct OutputError: Error, Hashable, CustomStringConvertible {
  let path: String
  /// The value of errno(3).
  let code: CInt

  /// Whether the program that reads the output has ended, as `head` does after its last line.
  var isReaderGone: Bool { code == EPIPE }

  var description: String { "cannot write \(path): \(String(cString: strerror(code)))" }
}
