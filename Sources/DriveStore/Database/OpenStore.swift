import GRDB

/// The result of opening the store.
struct OpenStore {
  /// The writing connection.
  let queue: DatabaseQueue
  /// Whether all of the file was read and found intact; a large one is read later.
  var isRead = true
}
