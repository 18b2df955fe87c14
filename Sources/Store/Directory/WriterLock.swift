import Foundation

/// The right to write to a state directory. It ends with this value, or with the process, however the process ends.
final class WriterLock: Sendable {
  private let descriptor: CInt
  private let note: String
  /// Whether the previous holder had the store open and ended without closing it: by a kill or a power cut.
  let isAfterUncleanEnd: Bool

  /// In the note of a holder that has the store open.
  private static let openMark = ", the store is open"
  /// In the note of a holder that opens it, and has looked for losses.
  private static let openingMark = ", the store is being opened"

  /// - Parameters:
  ///   - directory: The state directory.
  ///   - purpose: Describes the holder to processes that find the directory in use.
  /// - Throws: ``StoreError/inUse(directory:holder:)``, ``StoreError/unusableDirectory(path:reason:)``,
  ///   ``StoreError/symbolicLink(path:)``
  init(_ directory: StateDirectory, purpose: String) throws {
    let descriptor = try StateFile.open(directory.lock, O_RDWR | O_CREAT)
    guard Self.acquire(descriptor) else {
      let holder = Self.holder(descriptor)
      close(descriptor)
      throw StoreError.inUse(directory: directory.path, holder: holder)
    }
    self.descriptor = descriptor
    isAfterUncleanEnd = Self.text(descriptor).hasSuffix(Self.openMark)
    note = "process \(getpid()) (\(purpose))"
    // After an unclean end the mark stays until the losses are noted, because this process may be killed before that.
    write(isAfterUncleanEnd ? note + Self.openMark : note)
  }

  /// Notes that losses of the previous holder are found and noted. If this process ends before the store is open, the next one must not
  /// look again: SQLite may have emptied the log's index by then, and an empty index looks like a loss.
  func noteOpeningStore() { write(note + Self.openingMark) }

  /// Notes that the store is open: if this process ends without closing it, the next one knows.
  func noteOpenStore() { write(note + Self.openMark) }

  private func write(_ text: String) {
    // In this order: a kill between the two leaves the mark of the note before, or the new one.
    _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    ftruncate(descriptor, off_t(text.utf8.count))
  }

  /// Tries for a second. A reader that checks the lock has it itself for a moment, and so does a child of this
  /// process between fork and exec.
  private static func acquire(_ descriptor: CInt) -> Bool {
    for _ in 0..<50 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      usleep(20_000)
    }
    return false
  }

  /// Notes that the store is closed.
  func noteClosedStore() { ftruncate(descriptor, 0) }

  deinit { close(descriptor) }

  /// Whether any process has the right to write to `directory`.
  static func isHeld(_ directory: StateDirectory) -> Bool {
    let descriptor = open(directory.lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// The process that writes to `directory`, as it describes itself.
  static func holder(_ directory: StateDirectory) -> String {
    let descriptor = open(directory.lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return "another process" }
    defer { close(descriptor) }
    return holder(descriptor)
  }

  private static func text(_ descriptor: CInt) -> String {
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  private static func holder(_ descriptor: CInt) -> String {
    let note = text(descriptor).replacing(openMark, with: "").replacing(openingMark, with: "")
    return note.isEmpty ? "another process" : note
  }
}

extension StateDirectory {
  /// The process that writes to it, as it describes itself; `nil` when there is none.
  public var holder: String? { WriterLock.isHeld(self) ? WriterLock.holder(self) : nil }
}
