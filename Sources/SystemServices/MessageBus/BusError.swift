import Glibc

/// The system bus cannot be used.
package struct BusError: Error, CustomStringConvertible {
  /// A negative errno, as sd-bus returns it.
  package let code: CInt

  package init(code: CInt) { self.code = code }

  package var description: String { String(cString: strerror(code == .min ? .max : abs(code))) }

  /// - Returns: The status of a call of sd-bus, which is not negative.
  /// - Throws: ``BusError`` for a negative one.
  @discardableResult
  package static func check(_ status: CInt) throws(BusError) -> CInt {
    guard status >= 0 else { throw BusError(code: status) }
    return status
  }
}
