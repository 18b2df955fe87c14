import Foundation

/// A file that marks a pending recovery: a repair hides the damage, and the process may end before the recovery.
struct RecoveryMark {
  private let path: String
  private let folder: String

  init(_ directory: StateDirectory) { (path, folder) = (directory.recoveryMark, directory.path) }

  /// The pending recovery. An unreadable mark asks for the most thorough one.
  var need: RecoveryNeed {
    let file = RawFile(path)
    guard file.exists else { return .none }
    return file.read(0, 1) == Self.text(.damaged) ? .damaged : .rolledBack
  }

  /// Sets the mark, durably. Never lowers it.
  func set(_ need: RecoveryNeed) throws {
    guard need > self.need else { return }
    let descriptor = try StateFile.open(path, O_WRONLY | O_CREAT)
    defer { close(descriptor) }
    // On a full disk, the empty file is a sufficient mark.
    _ = pwrite(descriptor, Self.text(need), 1, 0)
    guard fsync(descriptor) == 0, StateDirectory.syncNames(in: folder) else {
      throw StoreError.unusableDirectory(folder, errno)
    }
  }

  func clear() { unlink(path) }

  private static func text(_ need: RecoveryNeed) -> [UInt8] { Array("\(need.rawValue)".utf8) }
}

/// What a damaged store may lack; decides how thorough a recovery is.
public enum RecoveryNeed: Int, Comparable, Sendable {
  case none
  /// Single rows.
  case damaged
  /// The latest writes: fences that were sent may count as unsent.
  case rolledBack

  /// A greater need includes the lesser ones.
  public static func < (left: RecoveryNeed, right: RecoveryNeed) -> Bool { left.rawValue < right.rawValue }
}
