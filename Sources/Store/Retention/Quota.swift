/// The limits of a state directory.
public struct Quota: Hashable, Sendable {
  /// Bytes of all its files: the store, drive logs, files that were set aside.
  public var bytes: Int64
  /// Rows of fences, sent or not.
  public var fences: Int

  /// By default 1 GiB and a million fences.
  public init(bytes: Int64 = 1 << 30, fences: Int = 1_000_000) {
    self.bytes = bytes
    self.fences = fences
  }
}
