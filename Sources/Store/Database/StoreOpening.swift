import GRDB

/// Why the store is opened.
enum OpeningReason: Hashable, Sendable {
  case start
  /// The previous process was killed while it had the store open.
  case startAfterUncleanEnd
  /// After an error that means damage.
  case repair
}

/// The result of opening the store.
struct OpeningResult {
  /// The writing connection.
  let queue: DatabaseQueue
  /// Whether all of the file was read and found intact; a large one is read later.
  var isRead = true
}
