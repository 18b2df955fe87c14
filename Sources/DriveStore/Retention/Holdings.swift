/// What a state directory contains, for the quota.
struct Holdings: Hashable, Sendable {
  /// A file that may be deleted: a drive log, or part of a damaged store.
  struct File: Hashable, Sendable {
    let path: String
    let bytes: Int64
  }

  /// Bytes of the store in use.
  var store: Int64 = 0
  var fences = 0
  /// Fences that the server has, and that may be deleted.
  var submitted = 0
  /// In the order of deletion.
  var files: [File] = []
  /// Bytes of all other files.
  var other: Int64 = 0

  /// Bytes in use, without free pages of the store and its write-ahead log, whose sizes vary.
  var bytes: Int64 { store + other + files.reduce(0) { $0 + $1.bytes } }
}
