import Coverage
import Foundation
import Settings
import Store

/// The state directory: whether a drive's fences reach the disk, how soon, and what is in the store.
enum StateExamination {
  /// Why the directory cannot be used, or what is in it.
  enum Directory: Hashable, Sendable {
    /// It is made by the first drive, in a directory that this user may write to.
    case absent
    case unusable(reason: String)
    /// A write failed for want of room, of inodes, or by a quota.
    case full(reason: String)
    case usable
  }

  struct Measures: Hashable, Sendable {
    var path: String
    var directory = Directory.usable
    /// That every user of the host may enter it; `nil` when only its owner and group may.
    var warning: String?
    /// Bytes that this user may still write to its disk; `nil` when the file system does not report them.
    var room: Int64?
    /// The time of each write of 4 kB with fsync(2).
    var syncs: [Duration] = []
    /// Why the store cannot be read; `nil` when it can, or there is none.
    var storeTrouble: String?
    /// Whether the next start repairs the store or sets it aside. If not, ``storeTrouble`` names the remedy.
    var isStoreRepaired = true
    /// The process that writes to it; `nil` when none does.
    var holder: String?
    /// Damaged fences in the store.
    var damaged = 0
    /// Fences that the server has refused.
    var quarantined = 0
    /// Fences that wait to be sent.
    var waiting = 0
    /// Whether all pages of the store were read; those of a large one are not.
    var hasReadAllPages = true
  }

  /// Each fence is one synced transaction; a longer one delays the next fences.
  static let slowSync: Duration = .milliseconds(500)
  /// In bytes. Below it, the next drive may fill the disk: a warning.
  static let littleRoom: Int64 = 256 << 20
  /// In bytes. Below it, no drive should begin: a fault.
  static let noRoom: Int64 = 16 << 20

  /// Reads the directory and the store, and times five writes.
  static func measure(_ configuration: ProbeConfiguration) -> Measures {
    let directory = StateDirectory(path: configuration.stateDirectory)
    var measures = Measures(path: directory.path)
    guard access(directory.path, F_OK) == 0 else {
      let parent = nearestParent(of: directory.path)
      measures.directory = access(parent, W_OK | X_OK) == 0 ? .absent : .unusable(reason: "\(parent): \(errorText())")
      measures.room = StateDirectory(path: parent).room
      return measures
    }
    // With the dot, a file in its place is an error.
    guard access(directory.path + "/.", R_OK | W_OK | X_OK) == 0 else {
      measures.directory = .unusable(reason: errorText())
      return measures
    }
    (measures.warning, measures.room, measures.holder) = (directory.warning, directory.room, directory.holder)
    do throws(SyncError) {
      measures.syncs = try (0..<5).map { _ throws(SyncError) in try sync(in: directory.path) }
    } catch {
      let isFull = [ENOSPC, EDQUOT].contains(error.code)
      measures.directory = isFull ? .full(reason: error.reason) : .unusable(reason: error.reason)
    }
    do {
      try directory.refuseLinks()
      let reader = try StoreReader(directory: directory)
      measures.hasReadAllPages = try reader.checkPages()
      for session in try reader.sessions() {
        measures.damaged += session.damagedFences
        measures.quarantined += session.quarantinedFences
        measures.waiting += session.waitingFences
      }
    } catch {
      measures.storeTrouble = StoreError.line(error, subject: "")
      switch error as? StoreError {
      case nil, .unusable?: break
      default: measures.isStoreRepaired = false
      }
    }
    return measures
  }

  /// Why a write did not reach the disk.
  private struct SyncError: Error {
    let code: Int32

    var reason: String { String(cString: strerror(code)) }
  }

  /// The time that a write of 4 kB and its fsync(2) take.
  private static func sync(in path: String) throws(SyncError) -> Duration {
    var name = Array("\(path)/doctor-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw SyncError(code: errno) }
    defer { close(descriptor) }
    // A file without a name is gone with this process.
    unlink(name)
    let bytes = [UInt8](repeating: 0x55, count: 4096)
    let begin = ContinuousClock.now
    let count = write(descriptor, bytes, bytes.count)
    // The kernel writes a part when the room ends, and reports no error.
    if count >= 0, count < bytes.count { throw SyncError(code: ENOSPC) }
    guard count >= 0, fsync(descriptor) == 0 else { throw SyncError(code: errno) }
    return ContinuousClock.now - begin
  }

  /// The nearest directory above `path` that exists: the first drive creates the state directory in it.
  private static func nearestParent(of path: String) -> String {
    var parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    while access(parent, F_OK) != 0, parent != "/" {
      parent = URL(fileURLWithPath: parent).deletingLastPathComponent().path
    }
    return parent
  }

  /// The meaning of `errno`; call it before any other system call.
  private static func errorText() -> String { String(cString: strerror(errno)) }

  // MARK: Judgement

  static func findings(_ measures: Measures) -> [Finding] {
    var findings = [directory(measures)]
    // The other readings depend on the directory.
    switch measures.directory {
    case .unusable, .full: return findings
    case .absent, .usable: break
    }
    if let warning = measures.warning { findings.append(Finding(.warning, .state, warning)) }
    if let room = measures.room { findings.append(self.room(room, measures)) }
    if let median = measures.syncs.sorted().nearestRank(50) { findings.append(sync(median)) }
    findings += store(measures)
    return findings
  }

  private static func directory(_ measures: Measures) -> Finding {
    switch measures.directory {
    case .absent: Finding(.good, .state, "\(measures.path) does not exist yet; the first drive creates it")
    case .unusable(let reason):
      Finding(
        .fault, .state, "\(measures.path) cannot be written to: \(reason)",
        advice: "run this as the service's user (sudo -u coverage-probe), or set state-directory")
    case .full(let reason):
      Finding(
        .fault, .state, "\(measures.path) cannot be written to: \(reason)", advice: "\(freeSpace); see df and df -i")
    case .usable: Finding(.good, .state, "\(measures.path) can be written to")
    }
  }

  private static let freeSpace = "free space on that disk; storage.max-size limits the store itself"

  private static func room(_ room: Int64, _ measures: Measures) -> Finding {
    let text = "\(room >> 20) MiB are free for \(measures.path)"
    if room < noRoom { return Finding(.fault, .state, text, advice: freeSpace) }
    return room < littleRoom
      ? Finding(.warning, .state, text, advice: freeSpace) : Finding(.good, .state, text)
  }

  private static func sync(_ time: Duration) -> Finding {
    let text = "a write of 4 kB is on the disk after \(time.inMicroseconds) µs"
    guard time > slowSync else { return Finding(.good, .state, text) }
    return Finding(
      .warning, .state, "\(text): fences wait for it",
      advice: "look for another program that writes much, or a worn-out card (dmesg, smartctl)")
  }

  /// The holder is a note only: `record` cannot run beside a service, but the service itself records.
  private static func store(_ measures: Measures) -> [Finding] {
    if let trouble = measures.storeTrouble {
      return [
        Finding(
          measures.isStoreRepaired ? .warning : .fault, .state, "the store cannot be read: \(trouble)",
          advice: measures.isStoreRepaired
            ? "the next drive or `submit` repairs it and keeps what is intact; docs/store.md" : nil)
      ]
    }
    return [
      measures.holder.map { Finding(.note, .state, "\($0) records or sends; `record` can begin after its end") },
      measures.hasReadAllPages
        ? nil
        : Finding(
          .note, .state, "the store is large: damage in its pages shows in the first pass of `submit` or a drive"),
      measures.damaged > 0
        ? Finding(
          .warning, .state, "\(counted(measures.damaged, "stored fence")) damaged",
          advice: "docs/store.md says why and what is left; look at the disk") : nil,
      measures.quarantined > 0
        ? Finding(
          .warning, .state,
          "\(counted(measures.quarantined, "fence")) quarantined: refused by the server, or possibly there already",
          advice:
            "`sessions` has the reason; `submit --quarantined` sends again, with --force also what the server may have")
        : nil,
      Finding(
        .good, .state,
        measures.waiting == 0 ? "no fence waits to be sent" : "\(counted(measures.waiting, "fence")) to send"),
    ].compactMap { $0 }
  }
}
