import Glibc

/// Why packets cannot be captured.
public struct CaptureError: Error, Hashable, CustomStringConvertible {
  /// A negative errno.
  public let code: CInt
  /// The missing privilege or resource, in one sentence.
  public let description: String
}
