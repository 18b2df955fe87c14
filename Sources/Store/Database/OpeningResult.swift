import GRDB

/// The result of opening the store.
struct OpeningResult {
  /// The writing connection.
  let queue: DatabaseQueue
  /// Whether all of the file was read and found intact; a large one is read later.
  var isRead = true
}
