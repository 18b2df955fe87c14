import Coverage

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
  }

  /// Bytes of the store in use.
  var store: Int64 = 0
  var fences = 0
  /// Fences that the server has, and that may be deleted.
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
