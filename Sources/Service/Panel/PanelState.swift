/// The panel's content at one moment, without history.
public struct PanelState: Hashable, Sendable {
  /// What is done, e.g. `recording: moving`; `nil` where that is plain.
  public var activity: String?
  /// Time since the start of the drive, e.g. `00:12:31`; `nil` when there is no drive.
  public var elapsed: String?
  /// The position in words.
  public var position: String?
  /// The links of the running drive.
  public var links: [PanelLink] = []
  /// The data that waits, and why nothing is sent; a line each.
  public var queue: [String] = []
  /// Trouble of the whole host, in words.
  public var warnings: [String] = []

  /// Nothing is known.
  public init() {}
}
