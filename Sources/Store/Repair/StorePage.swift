/// The pages of the store's file.
enum StorePage {
  /// In bytes: SQLite's default size for new files, which the store does not change.
  static let size = 4096
}
