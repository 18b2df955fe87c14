/// A page of the store's file.
enum StorePage {
  /// In bytes: SQLite gives a new file pages of this size, and the store asks for no other.
  static let size = 4096
}
