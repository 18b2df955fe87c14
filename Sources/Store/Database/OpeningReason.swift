/// Why the store is opened.
enum OpeningReason: Hashable, Sendable {
  case start
  /// The previous process was killed while it had the store open.
  case startAfterUncleanEnd
  /// After an error that means damage.
  case repair
}
