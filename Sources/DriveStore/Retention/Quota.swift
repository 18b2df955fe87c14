/// How much a state directory may hold.
public struct Quota: Hashable, Sendable {
  /// Bytes of all files in it: the store, drive logs, what was set aside.
  public var bytes: Int64
  /// Rows of fences, sent or not.
  public var fences: Int

  public init(bytes: Int64 = 1 << 30, fences: Int = 1_000_000) {
    self.bytes = bytes
    self.fences = fences
  }
}
