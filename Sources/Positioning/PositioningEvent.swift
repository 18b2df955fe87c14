/// An event of the positioning, in order of occurrence on this host.
public enum PositioningEvent: Hashable, Sendable {
  /// A position, or ``Coverage/Fix/lost``, once, when the position is lost.
  case fix(PositionedFix)
  /// The state of gpsd or of the receiver changed.
  case status(PositioningStatus)
  /// The counters so far: every few seconds if they have changed, and at the end.
  case counters(PositioningCounters)
  /// The satellites of the receiver that positions come from, or of any while there is none, when their number has changed.
  case satellites(Satellites)
  /// A receiver's time with the host's, about once a second from each receiver with a fix.
  case clock(ReceiverClock)
}
