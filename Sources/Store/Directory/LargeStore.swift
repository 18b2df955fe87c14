/// The size from which on a store is not read completely at a start or for a listing: on a device with a slow card, a drive
/// would begin seconds later.
enum LargeStore {
  /// The size of the file, in bytes: some 70,000 fences.
  static let bytes: Int64 = 16 << 20
}
