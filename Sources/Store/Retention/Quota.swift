import Coverage

/// The limits of a state directory.
public struct Quota: Hashable, Sendable {
  /// Bytes of all its files: the store, drive logs, files that were set aside.
  public var bytes: Int64
  /// Rows of fences, sent or not.
  public var fences: Int

  /// By default 1 GiB and a million fences.
  public init(bytes: Int64 = 1 << 30, fences: Int = 1_000_000) {
    self.bytes = bytes
    self.fences = fences
  }
}

/// The deletions that bring a state directory back within its quota. A pure value.
///
/// Submitted speed tests are deleted first, because one has the bytes of a hundred fences; then submitted and kept fences; then files. Each kind
/// oldest first. The quota never deletes unsent data; ``AgeDeletion`` deletes it by age.
struct QuotaPlan: Hashable, Sendable {
  /// The ids of submitted speed tests.
  private(set) var speedTests: [Int64] = []
  /// The number of submitted fences to delete, oldest first.
  private(set) var fences = 0
  private(set) var files: [Holdings.File] = []
  /// The excess that remains.
  private(set) var bytesOver: Int64 = 0
  private(set) var fencesOver = 0

  init(_ holdings: Holdings, quota: Quota) {
    let surplus = max(0, holdings.fences - quota.fences)
    var excess = max(0, holdings.bytes - quota.bytes)
    for test in holdings.speedTests where excess > 0 {
      speedTests.append(test.id)
      excess -= min(excess, test.bytes + test.copied)
    }
    // All of the store that is no speed test counts as fences. The estimate is high, so a round deletes too few; the caller repeats it.
    let ofSpeedTests = holdings.speedTests.reduce(0) { $0 + $1.bytes }
    let each = max(1, (holdings.store - ofSpeedTests) / Int64(max(1, holdings.fences)))
    fences = min(holdings.submitted, max(surplus, Int((excess + each - 1) / each)))
    fencesOver = surplus - min(surplus, fences)
    excess -= min(excess, Int64(fences) * each)
    for file in holdings.files where excess > 0 {
      files.append(file)
      excess -= min(excess, file.bytes)
    }
    bytesOver = excess
  }
}

/// The contents of a state directory, for the quota.
struct Holdings: Hashable, Sendable {
  /// A file that may be deleted: a drive log, or part of a damaged store.
  struct File: Hashable, Sendable {
    let path: String
    let bytes: Int64
  }

  /// A speed test that the server has.
  struct SpeedTest: Hashable, Sendable {
    let id: Int64
    /// Of its figures: the connections' curves, the pings, the track.
    let bytes: Int64
    /// Of its copy, which is among the other files.
    var copied: Int64 = 0
  }

  /// Bytes of the store in use.
  var store: Int64 = 0
  var fences = 0
  /// Fences that the server has, or that are kept, and that may be deleted.
  var submitted = 0
  /// In the order of deletion; their bytes are part of the store's.
  var speedTests: [SpeedTest] = []
  /// In the order of deletion.
  var files: [File] = []
  /// Bytes of all other files.
  var other: Int64 = 0

  /// Bytes in use, without free pages of the store and its write-ahead log, whose sizes vary.
  var bytes: Int64 {
    files.reduce(store.saturatingAdding(other)) { $0.saturatingAdding($1.bytes) }
  }
}
