/// How much a state directory may hold.
public struct Quota: Hashable, Sendable {
  /// Bytes of all files in it: the store, drive logs, what was set aside.
  public var bytes: Int64
  /// Rows of fences, sent or not.
  public var fences: Int

  public init(bytes: Int64 = 1 << 30, fences: Int = 1_000_000) {
    self.bytes = bytes
    self.fences = fences
  }
}

/// What a state directory holds.
struct Holdings: Hashable, Sendable {
  /// A file that may go: a drive log, or what a damaged store left behind.
  struct File: Hashable, Sendable {
    let path: String
    let bytes: Int64
  }

  /// Bytes of the store that hold something.
  var store: Int64 = 0
  var fences = 0
  /// Fences that the server has, and that may go.
  var submitted = 0
  /// In the order in which they go.
  var files: [File] = []
  /// Bytes of all else.
  var other: Int64 = 0

  /// Without pages of the store that hold nothing, and without its write-ahead log: they come and go.
  var bytes: Int64 { store + other + files.reduce(0) { $0 + $1.bytes } }
}

/// What is to be dropped so that a state directory is within its quota again. A pure value.
///
/// The server has what goes first: submitted fences, the oldest first. Then go files, in their order. What was not sent stays, whatever
/// it takes.
struct Shedding: Hashable, Sendable {
  /// So many of the oldest submitted fences.
  private(set) var fences = 0
  private(set) var files: [Holdings.File] = []
  /// What is too much even then.
  private(set) var bytesOver: Int64 = 0
  private(set) var fencesOver = 0

  init(_ holdings: Holdings, quota: Quota) {
    let surplus = max(0, holdings.fences - quota.fences)
    var excess = max(0, holdings.bytes - quota.bytes)
    // All of the store counts as fences. So it is rather too few that go; who looks again finds the rest.
    let each = max(1, holdings.store / Int64(max(1, holdings.fences)))
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
