/// A change that the caller of the engine has to carry out. The order of the effects of one event is significant.
public enum Effect: Hashable, Sendable {
  /// A new session is current; the session before it has ended.
  case sessionBegan(Session)
  /// The session's test UUID, anchor or end changed.
  case sessionChanged(Session)
  /// The fence ended. Only late pings can change it from here on.
  case fenceClosed(Fence)
  /// A late ping changed an ended fence, or Wi-Fi touched the open one.
  case fenceRevised(Fence)
  /// The drive ended.
  case stopped(StopReason)
}
