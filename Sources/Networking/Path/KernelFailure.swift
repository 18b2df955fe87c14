import Glibc

struct KernelFailure: Error, Hashable, CustomStringConvertible {
  /// A negative errno.
  let code: CInt

  var description: String { String(cString: strerror(-code)) }
}
