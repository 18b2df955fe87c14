import Foundation
import Glibc
import Service

/// The destination of a command's result.
///
/// A regular file is replaced by a new one with the same mode and owner after all of the new file is on the disk.
/// Until then the new file has no name, so that a failure, a signal or a power cut leaves nothing behind. Symbolic
/// links are followed. Devices, pipes and sockets are written directly. So is a file that cannot be replaced: one
/// with several names, of another owner, or in a directory without write permission; ``warning`` then says so.
final class OutputFile {
  /// How the result reaches its destination.
  private enum Target {
    /// Standard output, a device, a pipe, or a regular file that cannot be replaced for `reason`.
    case existing(reason: String? = nil)
    /// The complete file gets this path. `partial`: its temporary name, on a file system without unnamed files.
    case replacement(path: String, partial: String?)
  }

  /// The name that the operator gave.
  private let name: String
  /// Open until ``finish()`` or the end of this object, unless it was inherited.
  private let descriptor: CInt
  /// Whether this object opened the descriptor: an inherited one is neither synced nor closed.
  private let isOwned: Bool
  private let target: Target
  private var buffer: [UInt8] = []
  /// Whether the result is complete; if not, the end of this object removes the partial file.
  private var isFinished = false

  /// The buffer is written when it has this many bytes.
  private static let bufferSize = 1 << 16

  /// Opens the destination; creates no name yet.
  /// - Parameter path: `nil` and `-` mean standard output.
  /// - Throws: ``OutputError``
  convenience init(path: String?) throws(OutputError) {
    guard let path, path != "-" else {
      self.init(name: "standard output", STDOUT_FILENO, isOwned: false, .existing())
      return
    }
    if let inherited = Self.inheritedDescriptor(path) {
      self.init(name: path, inherited, isOwned: false, .existing())
      return
    }
    let (descriptor, target) = try Self.open(path)
    self.init(name: path, descriptor, isOwned: true, target)
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

  private init(name: String, _ descriptor: CInt, isOwned: Bool, _ target: Target) {
    (self.name, self.descriptor, self.isOwned, self.target) = (name, descriptor, isOwned, target)
  }

  deinit {
    guard !isFinished else { return }
    if isOwned { close(descriptor) }
    if case .replacement(_, let partial?) = target { unlink(partial) }
  }

  /// Why the file is written in place, in one line; a failure would leave it incomplete. `nil` when it will be
  /// replaced.
  var warning: String? {
    guard case .existing(let reason?) = target else { return nil }
    return "\(name) is written in place, as \(reason): a failure before the end leaves it incomplete"
  }

  /// Writes `bytes` after earlier ones.
  /// - Throws: ``OutputError``
  func write(_ bytes: [UInt8]) throws(OutputError) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Completes the output; must be called once, after the last write. On return the result has its name, and its bytes are on the
  /// disk. The name itself is not synced: a power cut in the next seconds can bring the old file back.
  /// - Throws: ``OutputError``; the old file is then unchanged, unless it was written in place.
  func finish() throws(OutputError) {
    try flush()
    guard isOwned else { return }
    // Pipes and devices cannot be synced.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw error() }
    if case .replacement(let path, let partial) = target { try replace(path, by: partial) }
    isFinished = true
    guard close(descriptor) == 0 else { throw error() }
  }

  /// Writes the buffer to the descriptor, and keeps its memory for the next bytes.
  private func flush() throws(OutputError) {
    guard DescriptorOutput.write(buffer, to: descriptor) else { throw error() }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Gives the complete file its path. linkat(2) never replaces a file, so an unnamed file gets a partial name first.
  /// - Parameter partial: The partial name that the file has already; `nil` for an unnamed file.
  private func replace(_ path: String, by partial: String?) throws(OutputError) {
    let given: String
    if let partial { given = partial } else { given = try nameFile(beside: path) }
    guard rename(given, path) == 0 else {
      let code = errno
      unlink(given)
      throw OutputError(path: name, code: code)
    }
  }

  /// Gives the unnamed file a free name.
  private func nameFile(beside path: String) throws(OutputError) -> String {
    for name in Self.partialNames(path) {
      if linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 { return name }
      guard errno == EEXIST else { break }
    }
    throw error()
  }

  /// Call it at once after the failure: other calls change `errno`.
  private func error() -> OutputError { OutputError(path: name, code: errno) }

  // MARK: Opening

  /// The descriptor of `/dev/stdout` and similar paths. Opening such a path would write at the start of a file that
  /// the shell appends to.
  private static func inheritedDescriptor(_ path: String) -> CInt? {
    if path == "/dev/stdout" { return STDOUT_FILENO }
    if path == "/dev/stderr" { return STDERR_FILENO }
    let folder = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
    return folder.flatMap { CInt(path.dropFirst($0.count)) }.flatMap { fcntl($0, F_GETFD) >= 0 ? $0 : nil }
  }

  /// Decides how the result reaches `path`, and opens the descriptor for it. Nothing is truncated unless the file is written in
  /// place.
  private static func open(_ path: String) throws(OutputError) -> (CInt, Target) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      // No such file: create one, at the end of a dangling link too. Any other error is final.
      guard errno == ENOENT else { throw OutputError(path: path, code: errno) }
      if path.isEmpty { throw OutputError(path: "\"\"", code: ENOENT) }
      if path.hasSuffix("/") { throw OutputError(path: path, code: EISDIR) }
      return try create(endOfLinks(path), mode: 0o666, named: path)
    }
    // Fails for directories, and for files that this user may not write to, even if the user could replace them.
    let existing = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
    guard existing >= 0 else { throw OutputError(path: path, code: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { return (existing, .existing()) }
    let new: Result<(CInt, Target), Obstacle>
    do { new = try replacement(of: path, status) } catch {
      close(existing)
      throw error
    }
    let reason: String
    switch new {
    case .success(let new):
      close(existing)
      return new
    case .failure(let obstacle): reason = obstacle.reason
    }
    guard ftruncate(existing, 0) == 0 else {
      let code = errno
      close(existing)
      throw OutputError(path: path, code: code)
    }
    return (existing, .existing(reason: reason))
  }

  /// Why a file cannot be replaced; completes "is written in place, as ...".
  private struct Obstacle: Error {
    let reason: String
  }

  /// Begins a file that replaces the regular file at `path`.
  /// - Throws: ``OutputError`` on a full or failing disk, which may not hold a file written in place either.
  private static func replacement(
    of path: String, _ status: stat
  ) throws(OutputError) -> Result<(CInt, Target), Obstacle> {
    guard status.st_nlink == 1 else { return .failure(Obstacle(reason: "it has several names")) }
    guard let real = realpath(path, nil) else { return .failure(Obstacle(reason: "its real path is unknown")) }
    defer { free(real) }
    let (descriptor, target): (CInt, Target)
    do { (descriptor, target) = try create(String(cString: real), mode: 0o600, named: path) } catch {
      if [ENOSPC, EDQUOT, EIO].contains(error.code) { throw error }
      return .failure(Obstacle(reason: "no file can be made beside it (\(String(cString: strerror(error.code))))"))
    }
    guard takeOver(status, descriptor) else {
      close(descriptor)
      if case .replacement(_, let partial?) = target { unlink(partial) }
      return .failure(Obstacle(reason: "a new file would have another owner"))
    }
    return .success((descriptor, target))
  }

  /// The path that a dangling link leads to, where the file will be created.
  private static func endOfLinks(_ path: String) throws(OutputError) -> String {
    var current = URL(fileURLWithPath: path)
    for _ in 0..<40 {
      var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
      let length = readlink(current.path, &target, Int(PATH_MAX))
      guard length > 0 else { return current.path }
      let text = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      current = URL(fileURLWithPath: text, relativeTo: current.deletingLastPathComponent())
    }
    throw OutputError(path: path, code: ELOOP)
  }

  /// Begins a new file for `path`.
  private static func create(
    _ path: String, mode: mode_t, named name: String
  ) throws(OutputError) -> (CInt, Target) {
    // `__O_TMPFILE`, which Swift's Glibc module lacks; the value is the same on all architectures that Swift supports
    // on Debian.
    let withoutName = 0o20_000_000 | O_DIRECTORY
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let unnamed = Glibc.open(folder, withoutName | O_WRONLY | O_CLOEXEC, mode)
    if unnamed >= 0 { return (unnamed, .replacement(path: path, partial: nil)) }
    guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else { throw OutputError(path: name, code: errno) }
    for partial in partialNames(path) {
      let descriptor = Glibc.open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
      if descriptor >= 0 { return (descriptor, .replacement(path: path, partial: partial)) }
      guard errno == EEXIST else { break }
    }
    throw OutputError(path: name, code: errno)
  }

  /// Names beside the file, because rename(2) works within one file system only. Several, in case a killed process with the same
  /// number left one behind.
  private static func partialNames(_ path: String) -> [String] {
    (0..<8).map { "\(path).\(getpid())-\($0).partial" }
  }

  /// Gives a new file the owner and the mode of the file that it replaces.
  private static func takeOver(_ status: stat, _ descriptor: CInt) -> Bool {
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
}
