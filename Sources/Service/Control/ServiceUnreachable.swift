import Coverage

/// No service answers, or not to this user.
public struct ServiceUnreachable: Error, Hashable, CustomStringConvertible {
  /// Absent: no program listens. Refused: not for this user. Silent: no answer in time.
  enum Reason { case absent, refused, silent }

  /// The path of the socket.
  let path: String
  let reason: Reason
  /// The path of the state directory.
  let directory: String
  /// The process that uses the state directory; `nil` when none does.
  let holder: String?

  /// The reason and the remedy, in one line.
  public var description: String {
    switch reason {
    case .absent where holder != nil:
      "no service answers at \(path), but state directory \(directory) is in use by \(holder ?? ""): an agent makes a removed "
        + "socket again within seconds, or has another agent.socket; any other program takes no commands"
    case .absent: "no service answers at \(path); start it with \(Program.name) agent, or set agent.socket"
    case .refused: "the service at \(path) takes commands from root and its own user only"
    case .silent: "the service at \(path) has not answered in time; it may still run the command: see its log"
    }
  }
}
