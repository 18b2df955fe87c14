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

  /// What a look at the write-ahead log has to find, if a process ended in the middle of that look.
  var look: LogIndex? {
    let words = RawFile(path).text(limit: 64)?.split(separator: " ") ?? []
    guard words.count == 3, words[0] == Self.looking, let frames = Int64(words[1]), frames >= 0,
      let salts = UInt64(words[2])
    else {
      return nil
    }
    return LogIndex(frames: frames, salts: salts)
  }

  /// Sets the mark, durably. Never lowers it.
  func set(_ need: RecoveryNeed) throws {
    guard need > self.need else { return }
    try write(Self.text(need))
  }

  /// Marks the store as possibly rolled back while the write-ahead log is looked at, which changes the index beside it: a later start
  /// looks for the same frames.
  func begin(_ look: LogIndex) throws {
    try write(Array("\(Self.looking) \(look.frames) \(look.salts)".utf8))
  }

  /// The look at the log has found a loss.
  func conclude() throws { try write(Self.text(.rolledBack)) }

  private func write(_ text: [UInt8]) throws {
    let descriptor = try StateFile.open(path, O_WRONLY | O_CREAT)
    defer { close(descriptor) }
    // On a full disk, the empty file is a sufficient mark, and so is any mixture of two texts.
    _ = pwrite(descriptor, text, text.count, 0)
    ftruncate(descriptor, off_t(text.count))
    guard fsync(descriptor) == 0, StateDirectory.syncNames(in: folder) else {
      throw StoreError.unusableDirectory(folder, errno)
    }
  }

  private static let looking = "look"

  func clear() { unlink(path) }

  private static func text(_ need: RecoveryNeed) -> [UInt8] { Array("\(need.rawValue)".utf8) }
}

/// What the index of a write-ahead log says of it.
struct LogIndex: Hashable {
  /// The frames of acknowledged transactions.
  let frames: Int64
  /// The salts of the log's header, which are other ones in each round of the log.
  let salts: UInt64
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
