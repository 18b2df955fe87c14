import Glibc

/// The system bus cannot be used.
struct BusError: Error, CustomStringConvertible {
  /// A negative errno, as sd-bus returns it.
  let code: CInt

  var description: String { String(cString: strerror(code == .min ? .max : abs(code))) }

  /// - Returns: The status of a call of sd-bus, which is not negative.
  /// - Throws: ``BusError`` for a negative one.
  @discardableResult
  static func check(_ status: CInt) throws(BusError) -> CInt {
    guard status >= 0 else { throw BusError(code: status) }
    return status
  }
}
