/// The part of a batch that its fences are exported with.
struct FenceBatch {
  let isIntact: Bool
  /// The session as it is for the fences of the batch.
  let session: StoredSession
}
