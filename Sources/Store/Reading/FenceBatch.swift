/// The data of a batch that its fences are exported with.
struct FenceBatch {
  let isIntact: Bool
  /// The session, with the test and the anchor of the batch.
  let session: StoredSession
}
