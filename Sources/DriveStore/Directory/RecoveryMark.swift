import Foundation

/// A file that says so until it is made up for: a repair hides what was wrong, and the process may end before anything else is done.
struct RecoveryMark {
  private let path: String
  private let folder: String

  init(_ directory: StateDirectory) { (path, folder) = (directory.recoveryMark, directory.path) }

  /// A mark that cannot be read asks for everything.
  var need: RecoveryNeed {
    let file = RawFile(path)
    guard file.exists else { return .none }
    return file.read(0, 1) == Self.text(.damaged) ? .damaged : .rolledBack
  }

  /// Durable when it returns. A greater need that is noted stays.
  /// - Throws: ``StoreError``
  func set(_ need: RecoveryNeed) throws {
    guard need > self.need else { return }
    let descriptor = try StateFile.open(path, O_WRONLY | O_CREAT)
    defer { close(descriptor) }
    // On a full disk the empty file says enough.
    _ = pwrite(descriptor, Self.text(need), 1, 0)
    guard fsync(descriptor) == 0, StateDirectory.syncNames(in: folder) else {
      throw StoreError.unusableDirectory(folder, errno)
    }
  }

  func clear() { unlink(path) }

  private static func text(_ need: RecoveryNeed) -> [UInt8] { Array("\(need.rawValue)".utf8) }
}
