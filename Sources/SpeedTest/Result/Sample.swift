/// A point of a thread's curve of one phase: the bytes that were transferred until a time.
public struct Sample: Hashable, Sendable {
  /// ns since the start of the phase: the client's clock for a download, the server's for an upload, never mixed (edge 27).
  public let nanoseconds: Int64
  /// All bytes of the thread in this phase until then, from 0 at its start.
  public let bytes: Int64

  /// A point.
  public init(nanoseconds: Int64, bytes: Int64) {
    (self.nanoseconds, self.bytes) = (nanoseconds, bytes)
  }
}
