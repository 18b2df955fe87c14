import CPinger

/// What this process may do beyond its user, and giving that up.
public struct Privileges: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// What it takes to open raw sockets anew that are bound to an interface, sockets with a mark, and captures; for the threads of
  /// pingers and captures that there are by then alone.
  public static let recovery = Privileges(rawValue: CPING_KEEP_RECOVERY.rawValue)
  /// What root needs to write where others own the folder, in all threads, and in programs that are started.
  public static let files = Privileges(rawValue: CPING_KEEP_FILES.rawValue)

  /// Gives up all others, in every thread of the process, for good. What is open stays open.
  /// - Returns: One line for a person when some threads may have kept theirs: no reason to measure nothing.
  public static func drop(keeping kept: Privileges) -> String? {
    let status = cping_drop_process_privileges(kept.rawValue)
    guard status < 0 else { return nil }
    return "this process may keep privileges that it does not need: \(PingerError(code: status))"
  }
}
