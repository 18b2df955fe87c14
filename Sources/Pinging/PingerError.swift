import CPinger

/// The host refused an operation of the pinger.
public struct PingerError: Error, Hashable, CustomStringConvertible {
  /// A negative errno.
  public let code: CInt
  /// The missing privilege or resource, in one sentence.
  public let description: String

  init(code: CInt) {
    self.code = code
    description = String(cString: cping_explain(code))
  }

  /// - Parameter target: The target that could not be opened; ``description`` names what the host lacks for it.
  init(code: CInt, target: cping_target) {
    self.code = code
    var text = [CChar](repeating: 0, count: 512)
    let found = withUnsafePointer(to: target) { cping_diagnose($0, &text, text.count) }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    description =
      found < 0 && !bytes.isEmpty ? String(decoding: bytes, as: UTF8.self) : String(cString: cping_explain(code))
  }
}
