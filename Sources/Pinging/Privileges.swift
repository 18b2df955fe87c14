import CPinger

/// Linux capabilities of this process, and how to drop them.
public struct Privileges: OptionSet, Sendable {
  /// The bits, CPING_KEEP_ of cpinger.h.
  public let rawValue: UInt32

  /// The privileges of the given bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The capabilities to reopen raw sockets that are bound to an interface, sockets with a mark, and captures. Only the threads of pingers
  /// and captures that exist at the time of ``drop(keeping:)`` keep them.
  public static let recovery = Privileges(rawValue: CPING_KEEP_RECOVERY.rawValue)
  /// The capabilities that root needs to write into folders of other users, in all threads and in started programs.
  public static let files = Privileges(rawValue: CPING_KEEP_FILES.rawValue)

  /// Drops all other capabilities permanently, in every thread of the process. Open sockets and files stay open.
  /// - Returns: One line for the operator when some threads may have kept theirs, which does not prevent measuring; otherwise `nil`.
  public static func drop(keeping kept: Privileges) -> String? {
    let status = cping_drop_process_privileges(kept.rawValue)
    guard status < 0 else { return nil }
    return "this process may keep privileges that it does not need: \(PingerError(code: status))"
  }
}

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
