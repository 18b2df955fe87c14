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
